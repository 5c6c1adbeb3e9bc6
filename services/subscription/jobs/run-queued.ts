import { failpoint } from "#kernel/process/failpoint.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { expired } from "#catalogue/queue-until-flat.ts";
import { recordedAs, Refusal } from "#kernel/values/refusal.ts";
import { reasonOf } from "#kernel/jobs/retry.ts";
import type { Deps } from "../deps.ts";
import { jobContext } from "../processes/deadlines.ts";
import { depart } from "../processes/departure/depart.ts";
import { namesOf } from "../processes/departure/end.ts";
import { markExpired, markReady, startTries } from "../store/departure-queue.ts";
import { type Departure, departureQueue } from "../store/departures.ts";
import { v7 as uuidv7 } from "uuid";
import { archiveClosed, listOpenClosings, queueLeavers } from "../store/closings.ts";
import { publishProgress } from "../messages/capital-events.ts";

/** Rows of one statement. */
const EXPIRIES_PER_RUN = 500;
/** All at the same time: they share an episode, and each uses a connection now and then. */
const TRIES_PER_RUN = 16;

/**
 * Ends departures whose time is over, queues exits from Masters that are being closed, and tries those whose Masters are flat by the books. That is only a
 * hint: a try decides everything anew. One statement looks at all Masters, however many departures wait for them. True when more may be due.
 */
export async function runQueued(deps: Deps): Promise<boolean> {
  const ended = await expire(deps);
  await closeMasters(deps, TRIES_PER_RUN);
  await markReady(deps.pool);
  const started = await start(deps);
  for (const kind of new Set(started.map((departure) => departure.kind))) failpoint("after_queue_start", kind);
  await Promise.all(started.map((departure) => run(deps, departure)));
  return ended === EXPIRIES_PER_RUN || started.length === TRIES_PER_RUN;
}

async function expire({ pool, now }: Deps): Promise<number> {
  return await inTransaction(pool, async (tx) => {
    const ended = await markExpired(tx, EXPIRIES_PER_RUN, { refusal: recordedAs(expired()), at: now() });
    for (const each of ended) publishProgress(tx, each, "ENDED");
    return ended.length;
  });
}

async function start({ pool }: Deps): Promise<Departure[]> {
  return await inTransaction(pool, async (tx) => {
    const departures = await startTries(tx, TRIES_PER_RUN);
    for (const each of departures) publishProgress(tx, each, "RUNNING");
    return departures;
  });
}

/** A failure on one does not stop the others: the recovery job continues from its row. */
async function run(deps: Deps, departure: Departure): Promise<void> {
  const { operationId, tries } = departure;
  try {
    // The queue tries again, so nothing waits here: others are tried after it.
    await depart(deps, departure, { ...jobContext(), commandId: operationId }, 0);
  } catch (error) {
    deps.log.info("queued departure not executed", { ...namesOf(departure), error });
    if (error instanceof Refusal && error.outcome === "not_executed") return;
    await departureQueue.retryLater(deps.pool, [{ id: operationId, tries, reason: reasonOf(error) }]);
  }
}

/**
 * Queues unassigns of the next Investors of each Master that is being closed, as many as are tried at once: those of a large pool delay no other Master. Masters of which
 * nothing is left are archived. The ledger shows each unassign at the time of the request that closes the Master.
 */
async function closeMasters({ pool, now, log }: Deps, atOnce: number): Promise<void> {
  for (const closing of await listOpenClosings(pool)) {
    const msecs = closing.requestedAt.getTime();
    await queueLeavers(
      pool,
      closing,
      Array.from({ length: atOnce }, () => uuidv7({ msecs })),
    );
  }
  for (const login of await archiveClosed(pool, now())) log.info("Master archived", { login });
}
