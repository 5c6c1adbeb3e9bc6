import { setTimeout as sleep } from "node:timers/promises";
import type { CallContext } from "#kernel/contract/contract.ts";
import { limit } from "#kernel/contract/limit.ts";
import { refuse } from "./problems/refusals.ts";

/** A request that waits for something instead of being sent again and again. */
export type Waiting = {
  /** Looks until what is seen is final, the time is up or the caller has left; answers what was seen last. */
  readonly until: <T>(look: (context: CallContext) => Promise<T>, isFinal: (seen: T) => boolean) => Promise<T>;
};

export type WaitFacts = {
  /** 0: it does not wait. */
  readonly seconds: number;
  readonly receivedAt: number;
  /** Aborted when the caller has left. */
  readonly left: AbortSignal;
  /** Each look has a deadline of its own. */
  readonly contextOfLook: () => CallContext;
};

export type WaitingRoom = {
  readonly enter: (facts: WaitFacts) => Waiting;
  /** From now on nobody waits: whoever does is answered with what was seen last. */
  readonly close: () => void;
};

export const MOST_WAIT_SECONDS = 30;
const LOOK_EVERY_MS = 250;
/** Of all callers together; fewer than may read at once, so that who does not wait still gets through. */
const MOST_WAITING = 128;
const RETRY_WHEN_FULL_MS = 1_000;

export function createWaitingRoom(mostWaiting = MOST_WAITING): WaitingRoom {
  const places = limit(mostWaiting);
  let isClosed = false;
  return {
    close: () => void (isClosed = true),
    enter: ({ seconds, receivedAt, left, contextOfLook }) => ({
      async until(look, isFinal) {
        const until = receivedAt + seconds * 1_000;
        let seen = await look(contextOfLook());
        if (isFinal(seen) || Date.now() >= until) return seen;
        if (!places.tryEnter()) {
          throw refuse("service_unavailable", "Too many requests are waiting.", { retryAfterMs: RETRY_WHEN_FULL_MS });
        }
        try {
          while (!isFinal(seen) && Date.now() < until && !left.aborted && !isClosed) {
            await sleep(Math.max(0, Math.min(LOOK_EVERY_MS, until - Date.now())));
            seen = await look(contextOfLook());
          }
          return seen;
        } finally {
          places.leave();
        }
      },
    }),
  };
}
