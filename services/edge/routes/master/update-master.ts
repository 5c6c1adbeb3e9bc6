import { Type } from "typebox";
import { aliasField, masterId, minDeposit, strategy, strategyName } from "../../schemas/request-fields.ts";
import { masterItem, MasterItem } from "../../schemas/master.ts";
import { route } from "../../route.ts";
import { decimalText } from "../../wire/json-body.ts";
import { moneyOf } from "../../wire/money.ts";

const KNOWN = ["name", "strategy_name", "strategy", "min_deposit"] as const;

export const updateMaster = route({
  method: "PATCH",
  url: "/api/v1/master/:master_id",
  scope: "masters:write",
  class: "money",
  tag: "Masters",
  summary: "Update a Master",
  description:
    "At least one field is required; omitted fields keep their value. A new minimum deposit applies to later assignments only.",
  params: Type.Object({ master_id: masterId }),
  body: Type.Object({
    name: Type.Optional(aliasField("Alias of the Master.")),
    strategy_name: Type.Optional(strategyName),
    strategy: Type.Optional(strategy),
    min_deposit: Type.Optional(minDeposit),
  }),
  reply: MasterItem,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for the new values in GET /api/v1/master/directory before sending a new one.",
  refusals: ["master_not_found"],
  check({ body }) {
    if (KNOWN.some((name) => body[name] !== undefined)) return [];
    return [{ field: "body", code: "required", message: `body must have at least one of ${KNOWN.join(", ")}.` }];
  },

  async handle({ accounts }, { params, body }, context) {
    const minimum = decimalText(body, "min_deposit");
    const master = await accounts.updateMaster(
      {
        id: BigInt(params.master_id),
        name: body.name,
        strategyName: body.strategy_name,
        strategy: body.strategy,
        minDeposit: minimum === undefined ? undefined : moneyOf(minimum),
      },
      context,
    );
    return masterItem(master);
  },
});
