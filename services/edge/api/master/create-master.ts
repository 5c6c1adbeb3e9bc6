import { Type } from "typebox";
import { aliasField, minDeposit, strategy, strategyName } from "../schemas/request-fields.ts";
import { CreatedMaster } from "../schemas/master.ts";
import { NEW_ACCOUNT_REFUSALS, newAccount } from "../schemas/new-account.ts";
import { labelFields } from "../schemas/labels.ts";
import { route } from "../../http/route.ts";

export const createMaster = route({
  operationId: "createMaster",
  method: "POST",
  url: "/api/v1/master/create",
  scope: "masters:write",
  class: "create",
  tag: "Masters",
  summary: "Create a Master",
  description: "Creates a trading account and its payment account. The response contains secrets.",
  returns: "The new Master with the passwords of its trading account.",
  body: Type.Object({
    ...newAccount(aliasField("Alias of the Master.", "Alpha Strategy"), "pamm\\master"),
    min_deposit: minDeposit,
    strategy_name: Type.Optional(strategyName),
    strategy: Type.Optional(strategy),
    ...labelFields,
  }),
  reply: CreatedMaster,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for its name in GET /api/v1/masters?name= before sending a new one.",
  refusals: [...NEW_ACCOUNT_REFUSALS, "external_id_in_use"],
  call: ({ accounts }, request, context) => accounts.createMaster(request, context),
});
