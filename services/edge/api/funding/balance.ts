import { Refusal } from "#kernel/values/refusal.ts";
import type { GetBalanceResponse } from "#proto/pamm/funding/v1/funding.ts";
import { bool, list, model, nullableString, string } from "../../fields/field.ts";
import { at, ofWhole, optional } from "../../fields/message.ts";
import { nullableMoneyReply } from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { loginField, logins, wait } from "../schemas/request-fields.ts";

const Balance = model("Balance", "The balance of an account.", {
  mt5_login: at("login", string({ description: "Requested login.", example: "3000003" })),
  balance: nullableMoneyReply("Balance in USD; null when it could not be read."),
  ok: ofWhole(
    bool({ description: "Whether the balance could be read.", example: true }),
    ({ balance, error }: Pick<GetBalanceResponse, "balance" | "error">) => balance !== undefined && error === "",
  ),
  error: nullableString({ description: "Why the balance could not be read; null when it was.", example: null }),
});

export const getBalance = route("GET /api/v1/info/balance/:mt5_login", {
  scope: "investors:read",
  summary: "Get an account balance",
  description:
    "For each login that this service manages. When the balance cannot be read, the status is still 200: `ok` is false and `error` says why.",
  returns: "The balance, or why it could not be read.",
  params: {
    mt5_login: at("login", loginField("Login of a Master, a payment account or an Investor.", "investor")),
  },
  query: { wait: optional(wait("the balance is known")) },
  reply: Balance,

  call: ({ funding }, request, { poll }) =>
    poll.until(
      (context) => funding.getBalance(request, context).catch((cause: unknown) => unreadBalance(request.login, cause)),
      ({ balance, isUnknown }) => balance !== undefined || isUnknown,
    ),
});

export const getBalances = route("GET /api/v1/info/balances", {
  scope: "investors:read",
  summary: "Get the balances of many accounts",
  description:
    "Up to 100 logins, each with an item as `GET /api/v1/info/balance/{mt5_login}` answers it: one that cannot be read does not affect the others. They are read together from the trading platform.",
  returns: "The balance of each login, in the order of the request.",
  query: { logins },
  reply: model("Balances", "The balances of accounts.", {
    items: at("balances", list(Balance, { description: "One item for each login, in the order of the request." })),
  }),

  call: ({ funding }, request, context) =>
    funding.getBalances(request, context).catch((cause: unknown) => ({
      balances: request.logins.map((login) => unreadBalance(login, cause)),
    })),
});

/** What is known of a balance when funding has refused to answer. Everything else is a fault. */
function unreadBalance(login: string, cause: unknown): GetBalanceResponse {
  if (!(cause instanceof Refusal) || cause.status === "internal") throw cause;
  return { login, balance: undefined, error: "The balance cannot be read now.", isUnknown: false };
}
