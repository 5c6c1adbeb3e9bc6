import { AccountKind, type FindAccountsRequest, type FindAccountsResponse } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { findAccounts as readAccounts } from "../store/accounts.ts";

export async function findAccounts({ pool }: Deps, { logins }: FindAccountsRequest): Promise<FindAccountsResponse> {
  const accounts = await readAccounts(pool, logins);
  return { accounts: accounts.map(({ kind, ...account }) => ({ ...account, kind: AccountKind[kind] })) };
}
