import { setImmediate as nextTurn } from "node:timers/promises";
import { type WakeSignal, createWakeSignal, pause } from "./wake-signal.ts";
import type { Log } from "../process/log.ts";
import { backOffMs } from "./retry.ts";
import { inJob } from "../tracing/span.ts";
import { isTransientFailure } from "./transient-failure.ts";
import { Gauge } from "prom-client";

/** Not `job`: Prometheus gives that label to the process. */
const failuresInARow = new Gauge({
  name: "pamm_job_failures_in_a_row",
  help: "Failed runs of the job since the last success.",
  labelNames: ["name"],
});

export type JobOptions = {
  /** A constant text: it is a label of metrics. */
  readonly name: string;
  /** Longest pause between two runs. A job reads its work from tables, so a lost wake-up signal costs this time only. */
  readonly everyMs: number;
  /** Notified by the code that creates work, so that the work does not wait for the next run. */
  readonly wake?: WakeSignal;
  /**
   * Shortest time between the begins of two runs, for work that no caller waits for: what arrives meanwhile is done together. The
   * first run after a quiet time begins at once.
   */
  readonly minGapMs?: number;
  /** Longest pause after failures, for jobs whose delay callers notice. */
  readonly maxRetryMs?: number;
  /** One run. True = there is more work: the next run follows at once. A number = the next run follows in so many ms. */
  readonly work: (signal: AbortSignal) => Promise<boolean | number>;
  readonly log: Log;
};

export type Job = AsyncDisposable & { readonly name: string };

/** Transient failures in a row before a warning: a service that restarts is unavailable for some seconds. */
const MAX_EXPECTED_FAILURES = 5;
/**
 * Services start at the same time, call each other and share a busy machine. For this long after its own start a job
 * waits for them and logs that once, as info.
 */
const START_WAIT_MS = 60_000;
/** Instead of growing pauses, so that the job begins soon after the other services are ready. */
const START_RETRY_MS = 500;

/** Repeats the work, never two runs at once. A failed run is retried without end, with growing pauses. */
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
  { name, everyMs, work, log, maxRetryMs, minGapMs = 0 }: JobOptions,
  wakeSignal: WakeSignal,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  failuresInARow.set({ name }, 0);
  const lines = failureLines(name, log);
  const startsUntil = performance.now() + START_WAIT_MS;
  while (!signal.aborted) {
    const startedMs = performance.now();
    try {
      const next = await inJob(name, () => work(signal));
      failures = 0;
      failuresInARow.set({ name }, 0);
      lines.succeeded();
      // Work that always finds more, and never awaits I/O, must not block the event loop.
      if (next === true) await nextTurn();
      else {
        await pauseUntil(startedMs + minGapMs, signal);
        await wakeSignal.wait(next === false ? everyMs : Math.min(next, everyMs), signal);
      }
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      failuresInARow.set({ name }, failures);
      const retryInMs = backOffMs(failures, maxRetryMs);
      if (isTransientFailure(error) && performance.now() < startsUntil) {
        if (failures === 1) {
          log.info("job waits for services that start, retry scheduled", { job: name, reason: String(error) });
        }
        await pause(Math.min(START_RETRY_MS, retryInMs), signal);
        continue;
      }
      lines.failed(error, failures, retryInMs);
      // A wake-up signal does not shorten this pause: a failing job that is often woken must not become a hot loop.
      await pause(retryInMs, signal);
    }
  }
}

/** While another service or the database is away, one line says so when that is longer than a restart, and one when the job runs again; a defect is a line each time. */
function failureLines(name: string, log: Log) {
  let isAwayReported = false;
  return {
    succeeded(): void {
      if (isAwayReported) log.info("job succeeded again", { job: name });
      isAwayReported = false;
    },
    failed(error: unknown, attempt: number, retryInMs: number): void {
      const fields = { job: name, attempt, retry_in_ms: retryInMs };
      if (!isTransientFailure(error)) log.error("job failed, retry scheduled", { ...fields, error });
      else if (attempt > MAX_EXPECTED_FAILURES && !isAwayReported) {
        isAwayReported = true;
        log.warn("job fails until what it needs is back, retried meanwhile", { ...fields, reason: String(error) });
      } else if (attempt === 1) log.info("job failed, retry scheduled", { ...fields, reason: String(error) });
    },
  };
}

/** A timer may fire some milliseconds early: it counts from the begin of the turn that sets it, in whole milliseconds. */
async function pauseUntil(byMs: number, signal: AbortSignal): Promise<void> {
  for (let leftMs = byMs - performance.now(); leftMs > 0 && !signal.aborted; leftMs = byMs - performance.now()) {
    await pause(Math.ceil(leftMs), signal);
  }
}

/** The usual interval at which Prometheus reads the metrics. */
export const SHOW_EVERY_MS = 15_000;

/** Updates metrics from tables. Every replica shows the state of the tables. */
export function showRegularly(name: string, log: Log, show: () => Promise<void>): Job {
  return runJob({ name, everyMs: SHOW_EVERY_MS, work: () => show().then(() => false), log });
}
