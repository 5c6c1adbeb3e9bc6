import assert from "node:assert/strict";
import { Type } from "typebox";
import { idReply, loginReply, nameReply, secretReply, timeReply } from "../../schemas/reply-fields.ts";
import { investorFields } from "../../schemas/investor.ts";
import { NEW_ACCOUNT_REFUSALS, newAccount, newAccountRequest } from "../../schemas/new-account.ts";
import { route } from "../../route.ts";

export const createInvestor = route({
  method: "POST",
  url: "/api/v1/investor/create",
  scope: "investors:write",
  class: "create",
  tag: "Investors",
  summary: "Create an Investor",
  description: "Creates an account without balance and without subscription. The response contains secrets.",
  body: Type.Object({
    ...newAccount("Alias of the Investor.", "pamm\\investor"),
  }),
  reply: Type.Object({
    id: idReply("Internal id of the Investor."),
    mt5_login: loginReply("Login of the Investor."),
    name: nameReply,
    created_at: timeReply("When the Investor was created."),
    password: secretReply("Main password of the account."),
    investor_password: secretReply("Read-only password of the account."),
  }),
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for its name in GET /api/v1/investor/directory before sending a new one.",
  refusals: [...NEW_ACCOUNT_REFUSALS, "investor_erased"],

  async handle({ accounts }, { body }, context) {
    const { investor, mainPassword, investorPassword } = await accounts.createInvestor(
      {
        ...newAccountRequest(body),
      },
      context,
    );
    assert(investor !== undefined, "a created Investor is missing in the answer");
    return {
      ...investorFields(investor),
      password: mainPassword,
      investor_password: investorPassword,
    };
  },
});
