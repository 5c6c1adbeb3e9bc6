import { Type } from "typebox";
import { CreatedInvestor } from "../schemas/investor.ts";
import { NEW_ACCOUNT_REFUSALS, newAccount } from "../schemas/new-account.ts";
import { aliasField } from "../schemas/request-fields.ts";
import { labelFields } from "../schemas/labels.ts";
import { route } from "../../http/route.ts";

export const createInvestor = route({
  operationId: "createInvestor",
  method: "POST",
  url: "/api/v1/investor/create",
  scope: "investors:write",
  class: "create",
  tag: "Investors",
  summary: "Create an Investor",
  description: "Creates an account without balance and without subscription. The response contains secrets.",
  returns: "The new Investor with the passwords of its account.",
  body: Type.Object({
    ...newAccount(aliasField("Alias of the Investor.", "Ada"), "pamm\\investor"),
    ...labelFields,
  }),
  reply: CreatedInvestor,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for its name in GET /api/v1/investors?name= before sending a new one.",
  refusals: [...NEW_ACCOUNT_REFUSALS, "external_id_in_use", "investor_erased"],
  call: ({ accounts }, request, context) => accounts.createInvestor(request, context),
});
