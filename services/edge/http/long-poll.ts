import { setTimeout as sleep } from "node:timers/promises";
import type { CallContext } from "#kernel/contract/contract.ts";
import { sharedLimit } from "./shared-limit.ts";

/** Waits for a state, so that the caller does not have to repeat its request. */
export type Poll = {
  /** Reads until the state is final, the time is up or the caller has left; returns what was read last. */
  readonly until: <T>(read: (context: CallContext) => Promise<T>, isFinal: (state: T) => boolean) => Promise<T>;
};

type PollFacts = {
  readonly clientId: string;
  /** 0: the caller does not wait. */
  readonly seconds: number;
  readonly receivedAt: number;
  readonly hasLeft: () => boolean;
  /** Each read has its own deadline. */
  readonly contextOfRead: () => CallContext;
};

export type LongPoll = ReturnType<typeof createLongPoll>;

/** Each read costs one query of a service; a caller does not notice a quarter of a second. */
const READ_EVERY_MS = 250;
/** Of all callers together; fewer than may read at once, so that requests that do not wait still get through. */
const MAX_WAITING = 128;

export function createLongPoll() {
  const slots = sharedLimit(MAX_WAITING, "with `wait`");
  let isClosed = false;
  return {
    /** Ends all waiting: each caller is answered with what was read last. */
    close: () => void (isClosed = true),
    open: ({ clientId, seconds, receivedAt, hasLeft, contextOfRead }: PollFacts): Poll => ({
      async until(read, isFinal) {
        const until = receivedAt + seconds * 1_000;
        let state = await read(contextOfRead());
        if (isFinal(state) || Date.now() >= until) return state;
        const leave = slots.enter(clientId);
        try {
          while (!isFinal(state) && Date.now() < until && !hasLeft() && !isClosed) {
            await sleep(Math.max(0, Math.min(READ_EVERY_MS, until - Date.now())));
            state = await read(contextOfRead());
          }
          return state;
        } finally {
          leave();
        }
      },
    }),
  };
}
