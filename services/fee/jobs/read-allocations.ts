import { callContext } from "#kernel/contract/context.ts";
import { reasonOf } from "#kernel/retry.ts";
import { readMaster } from "../processes/accounting/read-master.ts";
import type { Deps } from "../deps.ts";
import { type AllocationWatermark, endReading, readingQueue } from "../store/allocation-watermarks.ts";

/** Masters are read in parallel, each strictly in sequence. */
const MASTERS_PER_RUN = 8;
/** Shorter than the claim of the queue, so that no other replica reads the same Master at the same time. */
const READING_MS = 10_000;

/** Reads new allocations, at least up to the received watermark. A failure on one Master delays no other. True when more are due. */
export async function readAllocations(deps: Deps): Promise<boolean> {
  const claimed = await readingQueue.claim(deps.pool, MASTERS_PER_RUN);
  await Promise.all(claimed.map((received) => read(deps, received)));
  return claimed.length === MASTERS_PER_RUN;
}

async function read(deps: Deps, { masterLogin, tries }: AllocationWatermark): Promise<void> {
  try {
    await readMaster(deps, masterLogin, callContext({ caller: "fee", withinMs: READING_MS }));
    await endReading(deps.pool, masterLogin);
  } catch (error) {
    deps.log.info("allocations not read, retry scheduled", { login: masterLogin, attempt: tries, error });
    await readingQueue.retryLater(deps.pool, [{ id: masterLogin, tries, reason: reasonOf(error) }]);
  }
}
