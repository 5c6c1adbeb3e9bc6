import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { ListUnshownAccountsRequest, ListUnshownAccountsResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { roleToProto } from "../protocol/history/account-moved.ts";
import { refuse } from "../refusals.ts";
import { countUnshown, listUnshown } from "../store/unshown-accounts.ts";

/** Accounts without money that the platform does not show. */
export async function listUnshownAccounts(
  { pool }: Pick<Deps, "pool">,
  { afterLogin, limit }: ListUnshownAccountsRequest,
): Promise<ListUnshownAccountsResponse> {
  if (limit < 1 || limit > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `The limit must be from 1 to ${MAX_PAGE_SIZE}.`);
  }
  const found = await listUnshown(pool, afterLogin, limit + 1);
  const accounts = found.slice(0, limit).map(({ login, role, unshownSince, archivedAt }) => {
    return { login, role: roleToProto(role), unshownSince, archivedAt: archivedAt ?? undefined };
  });
  return { accounts, hasMore: found.length > limit, ...(await countUnshown(pool)) };
}
