import { jobContext } from "../processes/deadlines.ts";
import { sendPostings } from "../processes/posting/send-postings.ts";
import type { Deps } from "../deps.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { openPostings, postingQueue } from "../store/postings.ts";

/** Postings of one run, sent in one call that platform executes as a batch. */
const POSTINGS_PER_RUN = 500;

/** Posts results to Investor accounts: one posting per Investor for all results allocated so far. */
export async function postResults(deps: Deps): Promise<boolean> {
  const opened = await openPostings(deps.pool, deps.now(), POSTINGS_PER_RUN);
  if (opened > 0) failpoint("after_posting");
  const claimed = await postingQueue.claim(deps.pool, POSTINGS_PER_RUN);
  if (claimed.length > 0) await sendPostings(deps, claimed, { lockOwner: "" }, jobContext());
  return opened === POSTINGS_PER_RUN || claimed.length === POSTINGS_PER_RUN;
}
