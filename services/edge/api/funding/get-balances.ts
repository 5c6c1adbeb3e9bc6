import { Type } from "typebox";
import { Balance, balanceReply, unreadBalance } from "../schemas/balance.ts";
import { model } from "../../fields/field.ts";
import { logins as loginsField } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

export const getBalances = route({
  operationId: "getBalances",
  method: "GET",
  url: "/api/v1/info/balances",
  scope: "investors:read",
  class: "read",
  tag: "Funds",
  summary: "Get the balances of many accounts",
  description:
    "Up to 100 logins, each with an item as `GET /api/v1/info/balance/{mt5_login}` answers it: one that cannot be read does not affect the others. They are read together from the trading platform.",
  returns: "The balance of each login, in the order of the request.",
  query: Type.Object({ logins: loginsField }),
  reply: model("Balances", "The balances of accounts.", {
    items: Type.Array(Balance, { description: "One item for each login, in the order of the request." }),
  }),
  refusals: [],

  async handle({ funding }, { query }, context) {
    const logins = query.logins.split(",");
    const balances = await funding
      .getBalances({ logins }, context)
      .then((answer) => answer.balances)
      .catch((cause: unknown) => logins.map((login) => unreadBalance(login, cause)));
    return { items: balances.map(balanceReply) };
  },
});
