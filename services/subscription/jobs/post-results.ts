import { failpoint } from "#kernel/failpoint.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { jobContext } from "../processes/deadlines.ts";
import { sendPostings } from "../processes/posting/send-postings.ts";
import type { Deps } from "../deps.ts";
import { claimPostings, lockDuePostings } from "../store/postings.ts";

/** Postings of one run, sent in one call that platform executes as a batch. */
const POSTINGS_PER_RUN = 500;

/** Posts results to Investor accounts: one posting per Investor for all results allocated so far. */
export async function postResults(deps: Deps): Promise<boolean> {
  const claimed = await inTransaction(deps.pool, async (tx) => {
    return await claimPostings(tx, await lockDuePostings(tx, POSTINGS_PER_RUN));
  });
  if (claimed.length === 0) return false;
  failpoint("after_posting");
  await sendPostings(deps, claimed, { lockOwner: "" }, jobContext());
  return claimed.length === POSTINGS_PER_RUN;
}
