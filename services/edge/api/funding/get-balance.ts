import { Type } from "typebox";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Balance, balanceReply, unreadBalance } from "../schemas/balance.ts";
import { loginField, wait } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

export const getBalance = route({
  operationId: "getBalance",
  method: "GET",
  url: "/api/v1/info/balance/:mt5_login",
  scope: "investors:read",
  class: "read",
  tag: "Funds",
  summary: "Get an account balance",
  description:
    "For each login that this service manages. When the balance cannot be read, the status is still 200: `ok` is false and `error` says why.",
  returns: "The balance, or why it could not be read.",
  params: Type.Object({ mt5_login: loginField("Login of a Master, a payment account or an Investor.", "investor") }),
  query: Type.Object({ wait: Type.Optional(wait("the balance is known")) }),
  reply: Balance,
  refusals: [],

  async handle({ funding }, { params }, { poll }) {
    const login = params.mt5_login;
    const read = (call: CallContext) =>
      funding.getBalance({ login }, call).catch((cause: unknown) => unreadBalance(login, cause));
    return balanceReply(await poll.until(read, ({ balance, isUnknown }) => balance !== undefined || isUnknown));
  },
});
