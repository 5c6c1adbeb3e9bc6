import { Type } from "typebox";
import { at } from "../../fields/message.ts";
import { investorLogin } from "../schemas/request-fields.ts";
import { RevealedInvestor } from "../schemas/investor.ts";
import { route } from "../../http/route.ts";

export const revealInvestor = route({
  operationId: "getInvestorWithPasswords",
  method: "GET",
  url: "/api/v1/info/investor/:investor_login",
  scope: "secrets:read",
  class: "read",
  tag: "Investors",
  summary: "Get an Investor with its passwords",
  description: "For authorised back ends only. Every call is audited. Do not log the response body.",
  returns: "The Investor with the passwords of its account.",
  params: Type.Object({ investor_login: at("login", investorLogin) }),
  reply: RevealedInvestor,
  refusals: ["investor_not_found"],
  revealsSecrets: true,
  call: ({ accounts }, request, context) => accounts.revealInvestor(request, context),
});
