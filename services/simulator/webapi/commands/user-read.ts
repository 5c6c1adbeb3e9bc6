import type { Account } from "../../domain/account.ts";
import { refused } from "../../domain/retcode.ts";
import type { TradeServer } from "../../trade-server.ts";
import { batchOf } from "../paging.ts";
import { numbersOf, type Params, requiredNumber, textOf } from "../params.ts";
import { userRecord } from "../records/user-record.ts";
import { type Answer, valuesOf } from "../reply.ts";
import { accountsOfGroup, findAccount, getAccount } from "../visible.ts";

export function getUser(server: TradeServer, params: Params): Answer {
  return { answer: userRecord(server, getAccount(server, requiredNumber(params, "login"))) };
}

export function getUsers(server: TradeServer, params: Params): Answer {
  return { answer: batchOf(selectAccounts(server, params)).map((account) => userRecord(server, account)) };
}

/** Either logins or a group mask. Unknown logins are left out; when none is left, nothing was found. */
function selectAccounts(server: TradeServer, params: Params): readonly Account[] {
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
