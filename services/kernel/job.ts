import { setImmediate as nextTurn } from "node:timers/promises";
import { type WakeSignal, createWakeSignal, pause } from "./wake-signal.ts";
import type { Log } from "./log.ts";
import { backOffMs } from "./retry.ts";
import { isTransientFailure } from "./transient-failure.ts";

export type JobOptions = {
  readonly name: string;
  /** Longest pause between two looks; a job looks at states, so a missed wake costs this and no more. */
  readonly everyMs: number;
  /** Rung by who made work, so that it does not wait for the next look. */
  readonly wake?: WakeSignal;
  /** Longest pause after failures, when others wait for this job rather than for each other. */
  readonly maxRetryMs?: number;
  /** One round. True = there is more, come again at once. */
  readonly work: (signal: AbortSignal) => Promise<boolean>;
  readonly log: Log;
};

export type Job = AsyncDisposable & { readonly name: string };

/** A neighbour that starts or restarts is away for some seconds, which is no news for anybody. */
const PASSING_FAILURES = 5;
/**
 * Services start side by side, call each other and share a busy machine. For so long after its own start a job waits for
 * them, which is one line in the log and no failure.
 */
const START_WAIT_MS = 60_000;
const START_RETRY_MS = 500;

/** Runs rounds one after the other, never two at once. A failed round is tried again with growing pauses, for ever. */
export function runJob(options: JobOptions): Job {
  const stop = new AbortController();
  const finished = loop(options, options.wake ?? createWakeSignal(), stop.signal);
  return {
    name: options.name,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await finished;
    },
  };
}

async function loop(
  { name, everyMs, work, log, maxRetryMs }: JobOptions,
  wakeSignal: WakeSignal,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  const startsUntil = performance.now() + START_WAIT_MS;
  while (!signal.aborted) {
    try {
      const hasMore = await work(signal);
      failures = 0;
      // Work that always finds more, and never waits for anything, must not keep the process from everything else.
      await (hasMore ? nextTurn() : wakeSignal.wait(everyMs, signal));
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      const retryInMs = backOffMs(failures, maxRetryMs);
      if (isTransientFailure(error) && performance.now() < startsUntil) {
        if (failures === 1) log.info("job waits for services that start", { job: name, reason: String(error) });
        await pause(Math.min(START_RETRY_MS, retryInMs), signal);
        continue;
      }
      const level = failures <= PASSING_FAILURES && isTransientFailure(error) ? "info" : "error";
      log[level]("a job failed and is tried again", { job: name, attempt: failures, retry_in_ms: retryInMs, error });
      // No ring shortens this: a failing job that others wake must not become a hot loop.
      await pause(retryInMs, signal);
    }
  }
}
