import type { Account } from "../../domain/account.ts";
import { formatScaled } from "../../domain/decimal.ts";
import { refused } from "../../domain/retcode.ts";
import { MONEY_DIGITS } from "../../domain/units.ts";
import { historyOf } from "../../store/books.ts";
import { record, type TradeServer } from "../../trade-server.ts";
import { batchOf } from "../paging.ts";
import { numbersOf, type Params, requiredNumber, textOf } from "../params.ts";
import { userRecord } from "../records/user-record.ts";
import { type Answer, valuesOf } from "../reply.ts";
import { accountsOfGroup, findAccount, getAccount, getWritableAccount } from "../visible.ts";

export function getUser(server: TradeServer, params: Params): Answer {
  return { answer: userRecord(server, getAccount(server, requiredNumber(params, "login"))) };
}

export function getUsers(server: TradeServer, params: Params): Answer {
  return { answer: batchOf(selectAccounts(server, params)).map((account) => userRecord(server, account)) };
}

/** Either logins or a group mask. Unknown logins are left out; when none is left, nothing was found. */
export function selectAccounts(server: TradeServer, params: Params): readonly Account[] {
  const logins = numbersOf(params, "login");
  const group = textOf(params, "group");
  if (logins !== undefined && !group) {
    const found = logins.map((login) => findAccount(server, login)).filter((account) => account !== undefined);
    if (found.length === 0) throw refused("notFound");
    return found;
  }
  if (logins !== undefined || !group) throw refused("invalidParameters");
  return accountsOfGroup(server, group);
}

/** The manual requires a group, and clients in production name none. */
export function listLogins(server: TradeServer, params: Params): Answer {
  return { answer: accountsOfGroup(server, textOf(params, "group") || "*").map(({ login }) => String(login)) };
}

export function countUsers(server: TradeServer): Answer {
  return valuesOf({ Total: String(accountsOfGroup(server, "*").length) });
}

export function getUserGroup(server: TradeServer, params: Params): Answer {
  return valuesOf({ Group: getAccount(server, requiredNumber(params, "login")).group });
}

/** Here money is shown with six decimals. */
const HISTORY_DIGITS = 6;
const HISTORY_FACTOR = 10n ** BigInt(HISTORY_DIGITS - MONEY_DIGITS);

/** user/check_balance: the balance of the account and the sum of its deals; with fixflag=1 the sum replaces the balance. */
export function checkBalance(server: TradeServer, params: Params): Answer {
  const account = getAccount(server, requiredNumber(params, "login"));
  const history = historyOf(server.books, account.login);
  if (textOf(params, "fixflag") === "1") {
    const { login } = getWritableAccount(server, account.login);
    record(server, { kind: "balance_fixed", login, ...history });
  }
  const pair = (user: bigint, deals: bigint) => ({ User: shown(user), History: shown(deals) });
  return {
    answer: { Balance: pair(account.balance, history.balance), Credit: pair(account.credit, history.credit) },
  };
}

function shown(minor: bigint): string {
  return formatScaled(minor * HISTORY_FACTOR, HISTORY_DIGITS);
}
