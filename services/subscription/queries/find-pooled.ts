import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { FindPooledResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { listOpenSubscriptions } from "../store/subscriptions.ts";

/** An assignment is recorded before its account is locked. A subscription that is PAUSED has money in the pool, or on its way. */
export async function findPooled(
  { pool }: Pick<Deps, "pool">,
  investorLogins: readonly string[],
): Promise<FindPooledResponse> {
  if (investorLogins.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has at most ${MAX_PAGE_SIZE} logins.`);
  }
  const open = await listOpenSubscriptions(pool, investorLogins);
  const loginsOf = (isJoining: boolean) =>
    open.filter(({ status }) => (status === "ASSIGNING") === isJoining).map(({ investorLogin }) => investorLogin);
  return { pooled: loginsOf(false), joining: loginsOf(true) };
}
