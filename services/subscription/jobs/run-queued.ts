import { failpoint } from "#kernel/failpoint.ts";
import { expired } from "#kernel/queue-until-flat.ts";
import { Refusal } from "#kernel/refusal.ts";
import { reasonOf } from "#kernel/retry.ts";
import type { Deps } from "../deps.ts";
import { jobContext } from "../processes/deadlines.ts";
import { closeMasters } from "../processes/queue/close-masters.ts";
import { tryQueued } from "../processes/queue/try-queued.ts";
import { expireQueued, type QueuedUnassign, tryAgainLater } from "../store/queued-unassigns.ts";
import { claimQueued, markReady } from "../store/unassign-queue.ts";

/** Rows of one statement. */
const EXPIRIES_PER_RUN = 500;
/** All at the same time: they share an episode, and each uses a connection now and then. */
const TRIES_PER_RUN = 16;

/**
 * Ends unassigns whose time is over, queues those of Masters that are being closed, and tries those whose Masters are flat by the books. That is only a hint: a try decides everything anew. One statement
 * looks at all Masters, however many unassigns wait for them. True when more may be due.
 */
export async function runQueued(deps: Deps): Promise<boolean> {
  const ended = await expireQueued(deps.pool, { limit: EXPIRIES_PER_RUN, refusal: expired(), at: deps.now() });
  await closeMasters(deps, TRIES_PER_RUN);
  await markReady(deps.pool);
  const claimed = await claimQueued(deps.pool, TRIES_PER_RUN);
  if (claimed.length > 0) failpoint("after_queue_start", "unassign");
  await Promise.all(claimed.map((queued) => run(deps, queued)));
  return ended === EXPIRIES_PER_RUN || claimed.length === TRIES_PER_RUN;
}

/** A failure on one does not stop the others. */
async function run(deps: Deps, queued: QueuedUnassign): Promise<void> {
  const { commandId, investorLogin: login } = queued;
  try {
    await tryQueued(deps, queued, { ...jobContext(), commandId });
  } catch (error) {
    deps.log.info("queued unassign not executed", { operation_id: commandId, login, error });
    if (error instanceof Refusal && error.outcome === "not_executed") return;
    await tryAgainLater(deps.pool, commandId, reasonOf(error));
  }
}
