import { inTransaction } from "#kernel/postgres/transaction.ts";
import { publishExitsCompleted } from "../messages/capital-events.ts";
import type { Deps } from "../deps.ts";
import { listEmptiedPaused, lockHoldings } from "../store/holdings.ts";
import { cancelEmptied as cancel } from "../store/subscriptions.ts";

/** Subscriptions of one run, all locked in one transaction. */
const SUBSCRIPTIONS_PER_RUN = 100;

/**
 * Cancels PAUSED subscriptions whose holding is empty. The transaction that moves the last cent normally does so at once;
 * this job reads the rows, so that no subscription stays PAUSED.
 */
export async function cancelEmptied(deps: Deps): Promise<boolean> {
  const ids = await listEmptiedPaused(deps.pool, SUBSCRIPTIONS_PER_RUN);
  if (ids.length === 0) return false;
  await inTransaction(deps.pool, async (tx) => {
    await lockHoldings(tx, ids);
    publishExitsCompleted(tx, await cancel(tx, ids, deps.now()));
  });
  return ids.length === SUBSCRIPTIONS_PER_RUN;
}
