import assert from "node:assert/strict";
import { Type } from "typebox";
import { idReply, loginReply, nameReply, secretReply, timeReply } from "../../schemas/reply-fields.ts";
import { aliasField, firstName, lastName, leverage, platformGroup, username } from "../../schemas/request-fields.ts";
import { investorFields } from "../../schemas/investor.ts";
import { route } from "../../route.ts";
import { decimalText } from "../../wire/json-body.ts";

const DEFAULT_LEVERAGE = "100";

export const createInvestor = route({
  method: "POST",
  url: "/api/v1/investor/create",
  scope: "investors:write",
  class: "create",
  tag: "Investors",
  summary: "Create an Investor",
  description: "Creates an account without balance and without subscription. The response contains secrets.",
  body: Type.Object({
    first_name: firstName,
    last_name: lastName,
    name: aliasField("Alias of the Investor."),
    username,
    platform_group: platformGroup("pamm\\investor"),
    leverage: Type.Optional(leverage),
  }),
  reply: Type.Object({
    id: idReply("Internal id of the Investor."),
    mt5_login: loginReply("Login of the Investor."),
    name: nameReply,
    created_at: timeReply("When the Investor was created."),
    password: secretReply("Main password of the account."),
    investor_password: secretReply("Read-only password of the account."),
  }),
  refusals: ["group_not_allowed", "platform_rejected", "platform_unavailable", "login_range_exhausted"],

  async handle({ accounts }, { body }, context) {
    const { investor, mainPassword, investorPassword } = await accounts.createInvestor(
      {
        firstName: body.first_name,
        lastName: body.last_name,
        name: body.name,
        username: body.username,
        platformGroup: body.platform_group,
        leverage: Number(decimalText(body, "leverage") ?? DEFAULT_LEVERAGE),
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
