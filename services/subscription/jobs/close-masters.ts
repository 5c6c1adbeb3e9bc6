import { reasonOf } from "#kernel/retry.ts";
import type { Deps } from "../deps.ts";
import { jobContext } from "../processes/deadlines.ts";
import { takeStep } from "../processes/closing/take-step.ts";
import { type ClaimedClosing, closingQueue } from "../store/closings.ts";

/** Each takes some Investors out at the same time, and all of them share the connections of the process. */
const MASTERS_PER_RUN = 2;

/** Takes one step of each closing that is due: a large pool does not delay other Masters. */
export async function closeMasters(deps: Deps): Promise<boolean> {
  const claimed = await closingQueue.claim(deps.pool, MASTERS_PER_RUN);
  const goesOn = await Promise.all(claimed.map((closing) => closeOne(deps, closing)));
  return claimed.length === MASTERS_PER_RUN || goesOn.includes(true);
}

/** A failure on one Master does not stop the others. */
async function closeOne(deps: Deps, closing: ClaimedClosing): Promise<boolean> {
  const { masterLogin: login, tries } = closing;
  try {
    return await takeStep(deps, closing, jobContext());
  } catch (error) {
    deps.log.info("step of a closing failed, retry scheduled", { login, attempt: tries, error });
    await closingQueue.retryLater(deps.pool, [{ id: login, tries, reason: reasonOf(error) }]);
    return false;
  }
}
