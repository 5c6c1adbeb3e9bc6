import { Type } from "typebox";
import { InvestorProfile } from "../schemas/investor.ts";
import { labelChangeFields } from "../schemas/labels.ts";
import { at } from "../../fields/message.ts";
import { aliasField, investorId, username } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

export const updateInvestor = route({
  operationId: "updateInvestor",
  method: "PATCH",
  url: "/api/v1/investor/:investor_id",
  scope: "investors:write",
  class: "money",
  tag: "Investors",
  summary: "Update an Investor",
  description:
    "At least one field is required; omitted fields keep their value, and members of `metadata` are merged. Changes what this service keeps: on the trading platform the account keeps the names and the e-mail address that it was created with.",
  returns: "The Investor after the change.",
  params: Type.Object({ investor_id: at("id", investorId) }),
  body: Type.Object({
    name: Type.Optional(aliasField("Alias of the Investor.", "Ada")),
    email: Type.Optional(username),
    ...labelChangeFields,
  }),
  reply: InvestorProfile,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for the new values in GET /api/v1/investor/{investor_id} before sending a new one.",
  refusals: ["investor_not_found", "external_id_in_use", "investor_erased"],
  call: ({ accounts }, request, context) => accounts.updateInvestor(request, context),
});
