import { Type } from "typebox";
import { at } from "../../fields/message.ts";
import { aliasField, loginField } from "../schemas/request-fields.ts";
import { InvestorItem } from "../schemas/investor.ts";
import { labelFields } from "../schemas/labels.ts";
import { route } from "../../http/route.ts";

export const addInvestor = route({
  operationId: "registerInvestor",
  method: "POST",
  url: "/api/v1/investor/add",
  scope: "investors:write",
  class: "money",
  tag: "Investors",
  summary: "Register an Investor",
  description:
    "Registers an existing account of the trading platform as an Investor. Moves no money and creates no subscription.",
  returns: "The registered Investor.",
  body: Type.Object({
    mt5_login: at("login", loginField("Login of the existing account.", "investor")),
    name: aliasField("Alias of the Investor.", "Ada"),
    ...labelFields,
  }),
  reply: InvestorItem,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for its login in GET /api/v1/investor/directory?engine=PAMM before sending a new one.",
  refusals: [
    "login_already_registered",
    "external_id_in_use",
    "login_in_use",
    "platform_account_not_found",
    "currency_not_supported",
    "platform_unavailable",
  ],
  call: ({ accounts }, request, context) => accounts.addInvestor(request, context),
});
