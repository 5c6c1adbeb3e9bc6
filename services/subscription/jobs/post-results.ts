import { jobContext } from "../processes/deadlines.ts";
import { sendPostings } from "../processes/posting/send-postings.ts";
import type { Deps } from "../deps.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { CLAIM_MS, later } from "#kernel/retry.ts";
import { claimPostings, openPostings } from "../store/postings.ts";

/** One call of platform carries them, and executes them together. */
const POSTINGS_PER_ROUND = 500;

/** Posts results to Investor accounts: one posting per Investor for all results allocated so far. */
export async function postResults(deps: Deps): Promise<boolean> {
  const now = deps.now();
  const opened = await inTransaction(deps.pool, (tx) => openPostings(tx, now, POSTINGS_PER_ROUND));
  if (opened > 0) failpoint("after_posting");
  const claimed = await claimPostings(deps.pool, now, later(now, CLAIM_MS), POSTINGS_PER_ROUND);
  if (claimed.length > 0) await sendPostings(deps, claimed, { lockOwner: "" }, jobContext());
  return opened === POSTINGS_PER_ROUND || claimed.length === POSTINGS_PER_ROUND;
}
