import { retryLevel } from "#kernel/transient-failure.ts";
import type { Deps } from "../deps.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { takeTurn } from "../protocol/send.ts";
import { listWaiting } from "../store/queues.ts";
import { findLeg } from "../store/legs.ts";
import { isBlocked } from "../protocol/follow-transfer.ts";

/** A request sends its own leg within this time; later its process has crashed, or the leg waits for its turn. */
const ORPHANED_AFTER_MS = 2_000;
/** Legs of one run; a run that has sent some is followed by the next at once. */
const BATCH = 100;
/** As many as there usually are sessions: more would only wait for one. */
const MAX_CONCURRENT = 8;

/** Runs legs without a request: queued transfers, second legs, further attempts, intents of a crashed process. */
export async function runWaitingLegs(deps: Deps): Promise<boolean> {
  const waiting = await listWaiting(deps.pool, ORPHANED_AFTER_MS, BATCH);
  let sent = 0;
  const queue = waiting.values();
  const worker = async (): Promise<void> => {
    for (const number of queue) if (await run(deps, number)) sent += 1;
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
  return sent > 0;
}

/** True when the leg was sent or is final, so that the next leg of its login may be sent. */
async function run(deps: Deps, number: LegNumber): Promise<boolean> {
  const leg = await findLeg(deps.pool, number);
  if (leg === undefined || (!leg.isLate && (await isBlocked(deps, leg)))) return false;
  try {
    const turn = await takeTurn(deps, leg);
    return turn === "sent" || turn === "over";
  } catch (error) {
    deps.log[retryLevel(error)]("waiting leg failed, retry scheduled", {
      leg: number,
      login: leg.login,
      error,
    });
    return false;
  }
}
