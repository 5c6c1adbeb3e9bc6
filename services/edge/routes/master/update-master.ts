import { Type } from "typebox";
import { aliasField, masterId, minDepositNumber, strategy, strategyName } from "../../schemas/request-fields.ts";
import { masterItem, MasterItem } from "../../schemas/master.ts";
import { labelChangeFields, labelsChangeOf, metadataErrors } from "../../schemas/labels.ts";
import { route } from "../../route.ts";
import { decimalText } from "../../wire/json-body.ts";
import { moneyOf } from "../../wire/money.ts";

const KNOWN = ["name", "strategy_name", "strategy", "min_deposit", "external_id", "metadata"] as const;

export const updateMaster = route({
  operationId: "updateMaster",
  method: "PATCH",
  url: "/api/v1/master/:master_id",
  scope: "masters:write",
  class: "money",
  tag: "Masters",
  summary: "Update a Master",
  description:
    "At least one field is required; omitted fields keep their value. A new minimum deposit applies to later assignments only. Members of `metadata` are merged.",
  returns: "The Master after the change.",
  params: Type.Object({ master_id: masterId }),
  body: Type.Object({
    name: Type.Optional(aliasField("Alias of the Master.", "Alpha Strategy")),
    strategy_name: Type.Optional(strategyName),
    strategy: Type.Optional(strategy),
    min_deposit: Type.Optional(minDepositNumber),
    ...labelChangeFields,
  }),
  reply: MasterItem,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for the new values in GET /api/v1/master/directory before sending a new one.",
  refusals: ["master_not_found", "external_id_in_use"],
  examples: [
    {
      name: "min_deposit",
      summary: "Another minimum deposit",
      request: { params: { master_id: "7" }, body: { min_deposit: 0 } },
      answer: {
        engine: "PAMM",
        id: 7,
        mt5_login: "3000001",
        name: "Alpha Strategy",
        strategy_name: "Alpha",
        strategy: "Trend following.",
        investors_count: 2,
        payment_account_login: "3000002",
        min_deposit: 0,
        created_at: "2026-01-02T03:04:05.678000",
      },
    },
  ],
  check({ body }) {
    if (KNOWN.some((name) => body[name] !== undefined)) return metadataErrors(body.metadata);
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
        labels: labelsChangeOf(body),
      },
      context,
    );
    return masterItem(master);
  },
});
