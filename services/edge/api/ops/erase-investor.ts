import { bool, model, string } from "../../fields/field.ts";
import { at, within } from "../../fields/message.ts";
import { idReply, investorLoginReply, timeReply } from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { investorLogin } from "../schemas/request-fields.ts";

export const eraseInvestor = route("POST /api/v1/ops/investors/:investor_login/erase", {
  scope: "investors:erase",
  summary: "Erase the personal data of a closed Investor",
  description:
    "Replaces name and e-mail address, here and on the trading platform, by a neutral text, deletes the passwords, and disables the account. For good; amounts, logins and times stay. Refused with all reasons at once while the Investor has a subscription, money, open positions or an operation in progress. A repeated request gets the first answer. A body is ignored.",
  returns: "The Investor without its personal data.",
  params: { investor_login: at("login", investorLogin) },
  reply: model("ErasedInvestor", "An Investor whose personal data was erased.", {
    ...within("investor", {
      id: idReply("Internal id of the Investor.", 8),
      mt5_login: at("login", investorLoginReply()),
      name: string({ description: "What stands in place of the name.", example: "erased" }),
      created_at: timeReply("When the Investor was created or registered."),
    }),
    requested_by: string({ description: "Owner of the API key.", example: "anna" }),
    requested_at: timeReply("When the erasure was decided."),
    erased_at: timeReply("When the trading platform had confirmed it."),
    on_platform: bool({
      description:
        "Whether the trading platform showed the account. false: it is archived or deleted there, and the broker has to erase what it keeps.",
      example: true,
    }),
  }),
  lookUp:
    "Repeat it with the same Idempotency-Key; an erased Investor gets the same answer. GET /api/v1/investor/directory shows the name of one.",
  refusals: [
    "investor_not_found",
    "investor_not_closed",
    "login_not_managed",
    "platform_rejected",
    "platform_unavailable",
  ],
  call: ({ accounts }, request, context) =>
    accounts.eraseInvestor({ ...request, actor: context.client.owner }, context),
});
