import type { Account } from "../../domain/account.ts";
import { refused } from "../../domain/retcode.ts";
import { accountState } from "../../store/books.ts";
import type { TradeServer } from "../../trade-server.ts";
import { type Params, requiredNumber } from "../params.ts";
import { accountRecord } from "../records/account-record.ts";
import type { Answer } from "../reply.ts";
import { getAccount } from "../visible.ts";

/** Accounts without positions and without a deal since the last restart have no state: not found, not zero. */
export function getAccountState(server: TradeServer, params: Params): Answer {
  const account = getAccount(server, requiredNumber(params, "login"));
  if (!hasState(server, account)) throw refused("notFound");
  return { answer: accountRecord(account, accountState(server.books, account)) };
}

function hasState({ active, books }: TradeServer, { login }: Account): boolean {
  return active.has(login) || books.positionsByLogin.has(login);
}
