import assert from "node:assert/strict";
import { Type } from "typebox";
import { idReply, loginReply, nameReply, nullableSecretReply, timeReply } from "../../schemas/reply-fields.ts";
import { investorLogin } from "../../schemas/request-fields.ts";
import { investorFields } from "../../schemas/investor.ts";
import { route } from "../../route.ts";

export const revealInvestor = route({
  method: "GET",
  url: "/api/v1/info/investor/:investor_login",
  scope: "secrets:read",
  class: "read",
  tag: "Investors",
  summary: "Get an Investor with its passwords",
  description: "For authorised back ends only. Every call is audited. Do not log the response body.",
  params: Type.Object({ investor_login: investorLogin }),
  reply: Type.Object({
    id: idReply("Internal id of the Investor."),
    mt5_login: loginReply("Login of the Investor."),
    name: nameReply,
    mt5_password: nullableSecretReply("Main password of the account."),
    mt5_investor_password: nullableSecretReply("Read-only password of the account."),
    created_at: timeReply("When the Investor was created or registered."),
  }),
  refusals: ["investor_not_found"],
  revealsSecrets: true,

  async handle({ accounts }, { params }, context) {
    const revealed = await accounts.revealInvestor({ login: params.investor_login }, context);
    const { investor } = revealed;
    assert(investor !== undefined, "the Investor is missing in the answer");
    return {
      ...investorFields(investor),
      mt5_password: revealed.mainPassword ?? null,
      mt5_investor_password: revealed.investorPassword ?? null,
    };
  },
});
