import { setTimeout as sleep } from "node:timers/promises";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import type { Log } from "#kernel/process/log.ts";
import { type Backoff, ReconnectPause } from "./session/backoff.ts";
import { Mt5Error } from "./errors.ts";

/**
 * The pauses that a platform asks for with code 12 or HTTP 429: all reads wait, because a server that is asked more often
 * blocks the address.
 */
export type ReadPace = {
  /** Resolves when a read may be sent, with the instant at which it is. Throws `busy` when that is too far away. */
  readonly turn: () => Promise<number>;
  /** The answer to the read of that turn asks for fewer requests; `pauseMs` is the pause that it names. */
  readonly slowDown: (turn: number, pauseMs?: number) => void;
  readonly worked: (turn: number) => void;
};

export type PaceOptions = { readonly backoff: Backoff; readonly waitMs: number; readonly log: Log };

export const READ_BACKOFF: Backoff = { firstMs: 500, lastMs: 30_000 };
/** A server that names a longer pause is asked again after this. */
const MAX_PAUSE_MS = MINUTE_MS;

export function createReadPace({ backoff, waitMs, log }: PaceOptions): ReadPace {
  const pause = new ReconnectPause(backoff);
  let slowedAtMs = Number.NEGATIVE_INFINITY;
  let namedUntilMs = 0;
  const pauseMs = () => Math.max(pause.pauseMs(), namedUntilMs - performance.now());
  return {
    async turn() {
      const ms = pauseMs();
      if (ms > waitMs) throw new Mt5Error("busy", "the platform limits the rate of requests");
      if (ms > 0) await sleep(ms);
      return performance.now();
    },
    slowDown(turn, named = 0) {
      // Answers to reads that were sent together are one request to slow down.
      if (turn < slowedAtMs) return;
      slowedAtMs = performance.now();
      pause.failed();
      namedUntilMs = slowedAtMs + Math.min(named, MAX_PAUSE_MS);
      log.warn("platform limits the rate of requests, reads are paused", { retry_in_ms: Math.ceil(pauseMs()) });
    },
    worked(turn) {
      if (turn > slowedAtMs && pause.failures > 0) pause.worked();
    },
  };
}
