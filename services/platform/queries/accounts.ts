import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import type {
  InspectAccountsRequest,
  InspectAccountsResponse,
  InspectClosingRequest,
  InspectClosingResponse,
  ListUnshownAccountsRequest,
  ListUnshownAccountsResponse,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { roleToProto } from "../protocol/history/account-moved.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { requireSome, notManaged, requireLimit } from "../refusals.ts";
import { findAccount, hasOpenOperation, listAccounts } from "../store/accounts.ts";
import { countUnshown, listUnshown } from "../store/unshown-accounts.ts";

const LOGIN = /^[1-9]\d{0,17}$/;

export async function inspectAccounts(
  { pool, mt5 }: Deps,
  { logins }: InspectAccountsRequest,
): Promise<InspectAccountsResponse> {
  requireSome(logins, "logins");
  // An invalid login does not exist; the platform could refuse the whole list because of it.
  const valid = [...new Set(logins.filter((login) => LOGIN.test(login)))];
  const users = valid.length === 0 ? new Map<string, never>() : await orUnavailable(mt5.getUsers(valid));
  const managed = await listAccounts(pool, valid);
  return {
    accounts: logins.map((login) => {
      const user = users.get(login);
      return {
        login,
        exists: user !== undefined,
        group: user?.group ?? "",
        role: roleToProto(managed.get(login)?.role),
      };
    }),
  };
}

/** The account may not be shown any more: brokers archive accounts that have not been used for long. */
export async function inspectClosing(
  { pool, mt5 }: Deps,
  { login }: InspectClosingRequest,
): Promise<InspectClosingResponse> {
  const account = await findAccount(pool, login);
  if (account === undefined) throw notManaged(login);
  const user = account.isArchived ? undefined : await orUnavailable(mt5.getUser(login));
  const positions = user === undefined ? [] : await orUnavailable(mt5.readPositions(login));
  return {
    balance: moneyToProto(user === undefined ? account.logBalance : usd(user.balanceMinor)),
    credit: moneyToProto(usd(user?.creditMinor ?? 0n)),
    openPositions: positions.length,
    operationOpen: await hasOpenOperation(pool, login),
  };
}

/** Accounts without money that the platform does not show. */
export async function listUnshownAccounts(
  { pool }: Pick<Deps, "pool">,
  { afterLogin, limit }: ListUnshownAccountsRequest,
): Promise<ListUnshownAccountsResponse> {
  requireLimit(limit);
  const found = await listUnshown(pool, afterLogin, limit + 1);
  const accounts = found.slice(0, limit).map(({ login, role, unshownSince, archivedAt }) => {
    return { login, role: roleToProto(role), unshownSince, archivedAt: archivedAt ?? undefined };
  });
  return { accounts, hasMore: found.length > limit, ...(await countUnshown(pool)) };
}
