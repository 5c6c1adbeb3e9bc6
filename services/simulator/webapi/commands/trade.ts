import { decideBalanceOperation } from "../../domain/balance-operation.ts";
import type { Verdict } from "../../domain/fault.ts";
import { MANAGER_RIGHT } from "../../settings.ts";
import { accountState } from "../../store/books.ts";
import { recordDeals, type TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import { type Params, requiredMoney, requiredNumber, textOf } from "../params.ts";
import { type Answer, valuesOf } from "../reply.ts";
import { getWritableAccount } from "../visible.ts";

/** trade/balance: without request id and idempotency. A repetition pays a second time. */
function balance(server: TradeServer, params: Params, verdict: Verdict): Answer {
  const type = requiredNumber(params, "type");
  const amount = requiredMoney(params, "balance");
  const account = getWritableAccount(server, requiredNumber(params, "login"));
  const draft = decideBalanceOperation(
    {
      login: account.login,
      dealer: server.settings.managerLogin,
      type,
      amount,
      comment: verdict.cutsComment ? "" : (textOf(params, "comment") ?? ""),
      checksMargin: textOf(params, "check_margin") !== "0",
    },
    accountState(server.books, account),
  );
  const [deal] = recordDeals(server, [draft]);
  if (deal === undefined) throw new Error("a draft became no deal");
  if (verdict.hideMs !== undefined) server.hidden.set(deal.ticket, server.nowMs() + verdict.hideMs);
  return valuesOf({ Ticket: String(deal.ticket) });
}

export const TRADE_COMMANDS: Commands = {
  "trade/balance": { right: MANAGER_RIGHT.accountant, run: balance },
};
