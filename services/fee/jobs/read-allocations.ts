import { callContext } from "#kernel/contract/context.ts";
import { reasonOf } from "#kernel/retry.ts";
import { readMaster } from "../processes/accounting/read-master.ts";
import type { Deps } from "../deps.ts";
import { type AllocationWatermark, endReading, readingQueue } from "../store/allocation-watermarks.ts";

/** Masters are read in parallel, each strictly in sequence. */
const MASTERS_PER_RUN = 8;
/** A Master with more to read continues in the next run, so that it does not delay the others. */
const READING_MS = 2_000;
/** Shorter than the claim of the queue, so that no other replica reads the same Master at the same time. */
const WITHIN_MS = 4_000;

/** Reads new allocations, at least up to the received watermark. A failure on one Master delays no other. True when more are due. */
export async function readAllocations(deps: Deps): Promise<boolean> {
  const claimed = await readingQueue.claim(deps.pool, MASTERS_PER_RUN);
  const ended = await Promise.all(claimed.map((received) => read(deps, received)));
  return claimed.length === MASTERS_PER_RUN || ended.includes(false);
}

/** False when the Master has more to read now. */
async function read(deps: Deps, { masterLogin, tries }: AllocationWatermark): Promise<boolean> {
  try {
    const context = callContext({ caller: "fee", withinMs: WITHIN_MS });
    const { isEnd } = await readMaster(deps, masterLogin, context, { untilMs: performance.now() + READING_MS });
    await endReading(deps.pool, masterLogin);
    return isEnd;
  } catch (error) {
    deps.log.info("allocations not read, retry scheduled", { login: masterLogin, attempt: tries, error });
    await readingQueue.retryLater(deps.pool, [{ id: masterLogin, tries, reason: reasonOf(error) }]);
    return true;
  }
}
