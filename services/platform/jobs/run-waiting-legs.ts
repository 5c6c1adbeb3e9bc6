import { retryLevel } from "#kernel/transient-failure.ts";
import type { Deps } from "../deps.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { listLegsByNumber } from "../store/legs.ts";
import { listWaiting } from "../store/due-legs.ts";
import { takeTurn } from "../protocol/follow-transfer.ts";

/** A request sends its own leg within this time; later its process has crashed, or the leg waits for its turn. */
const ORPHANED_AFTER_MS = 2_000;
/** Legs of one run; a run that has sent some is followed by the next at once. */
const BATCH = 100;
/** How long a leg may wait for a session before the next run asks for it again. */
const MAX_WAIT_MS = 5_000;

/**
 * Runs legs without a request: queued transfers, second legs, further attempts, intents of a crashed process. A run begins after the last leg of the
 * one before, so that many that wait for the lock of their account displace no others.
 */
export function waitingLegsRun(deps: Deps): () => Promise<boolean> {
  let after: LegNumber | undefined;
  return async () => {
    if (deps.gate.read() !== "open") return false;
    const waiting = await listWaiting(deps.pool, { requestMs: ORPHANED_AFTER_MS, after, limit: BATCH });
    const isLast = waiting.length < BATCH;
    after = isLast ? undefined : waiting.at(-1);
    if (waiting.length === 0) return false;
    const legs = await listLegsByNumber(deps.pool, waiting);
    const sent = await Promise.all(legs.map((leg) => run(deps, leg)));
    return !isLast || sent.includes(true);
  };
}

/** True when the leg was sent or is final, so that the next leg of its login may be sent. */
async function run(deps: Deps, leg: RecordedLeg): Promise<boolean> {
  try {
    if ((await deps.sending.readTurn(leg)) === "wait") return false;
    return typeof (await takeTurn(deps, leg, performance.now() + MAX_WAIT_MS)) === "object";
  } catch (error) {
    deps.log[retryLevel(error)]("waiting leg failed, retry scheduled", {
      leg: leg.number,
      login: leg.login,
      error,
    });
    return false;
  }
}
