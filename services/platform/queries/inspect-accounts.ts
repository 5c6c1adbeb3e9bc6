import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { InspectAccountsRequest, InspectAccountsResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { roleToProto } from "../protocol/history/account-moved.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { listRoles } from "../store/accounts.ts";

const LOGIN = /^[1-9]\d{0,17}$/;

export async function inspectAccounts(
  { pool, mt5 }: Deps,
  { logins }: InspectAccountsRequest,
): Promise<InspectAccountsResponse> {
  if (logins.length < 1 || logins.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} logins.`);
  }
  // An invalid login does not exist; the platform could refuse the whole list because of it.
  const valid = [...new Set(logins.filter((login) => LOGIN.test(login)))];
  const users = valid.length === 0 ? new Map<string, never>() : await orUnavailable(mt5.getUsers(valid));
  const roles = await listRoles(pool, valid);
  return {
    accounts: logins.map((login) => {
      const user = users.get(login);
      return { login, exists: user !== undefined, group: user?.group ?? "", role: roleToProto(roles.get(login)) };
    }),
  };
}
