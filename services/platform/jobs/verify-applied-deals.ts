import type { Deps } from "../deps.ts";
import { verifyDeals } from "../protocol/past/verify-deals.ts";
import { claimDealLooks } from "../store/deal-looks.ts";

/** Longer than a round takes; a process that dies with a claim delays its looks by this. */
const CLAIM_MS = 60_000;
/** Logins of one question are bounded by the length of a URL. */
const BATCH = 100;

/** Looks for the deals of applied operations again, because a server that restarts may have forgotten them. */
export async function verifyAppliedDeals(deps: Deps): Promise<boolean> {
  const due = await claimDealLooks(deps.pool, CLAIM_MS, BATCH);
  // Operations of one look were applied about the same time, so that one short piece of the history shows them all.
  for (const group of Map.groupBy(due, ({ looks }) => looks).values()) await verifyDeals(deps, group);
  return due.length === BATCH;
}
