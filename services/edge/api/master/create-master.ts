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
  examples: [
    {
      name: "created",
      summary: "A new Master",
      request: {
        body: {
          first_name: "Ada",
          last_name: "Lovelace",
          name: "Alpha Strategy",
          username: "ada@example.com",
          platform_group: "pamm\\master",
          leverage: "200",
          min_deposit: "100.50",
          strategy_name: "Alpha",
          strategy: "Trend following.",
        },
      },
      answer: {
        id: 7,
        mt5_login: "3000001",
        name: "Alpha Strategy",
        strategy_name: "Alpha",
        strategy: "Trend following.",
        created_at: "2026-01-02T03:04:05.678000",
        password: "Main-1234",
        investor_password: "Read-1234",
        payment_account_login: "3000002",
      },
    },
  ],
  call: ({ accounts }, request, context) => accounts.createMaster(request, context),
});
