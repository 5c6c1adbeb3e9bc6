import { setTimeout as sleep } from "node:timers/promises";
import { StartupError } from "#kernel/process/startup-error.ts";
import type { Ending } from "./child-process.ts";
import type { ProcessRun } from "./service-process.ts";

export type KeptProcess = {
  readonly name: string;
  /** Resolves when the process was ready once; rejects when its first start failed. */
  readonly ready: Promise<void>;
  /** Ends the process, which is not started again. */
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
};

/** A process that ran longer than this is restarted at once. */
const STABLE_MS = 10_000;
/** A process that ends at each start must not occupy the machine. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/** Starts a process, and restarts it whenever it ends: first at once, then with growing pauses. */
export function keepRunning(
  name: string,
  start: () => Promise<ProcessRun>,
  report: (text: string) => void,
): KeptProcess {
  const stopping = new AbortController();
  const first = Promise.withResolvers<void>();
  let run: ProcessRun | undefined;
  let wasReady = false;

  async function runOnce(): Promise<Ending> {
    run = await start();
    if (stopping.signal.aborted) await run.stop();
    run.ready.then(() => {
      if (wasReady && !stopping.signal.aborted) report(`${name} runs again`);
      wasReady = true;
      first.resolve();
    }, first.reject);
    return run.ended;
  }

  async function runUntilStopped(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted;) {
      const startedAt = performance.now();
      const { how, isKilled } = await runOnce().catch((error: unknown) => notStarted(error));
      if (stopping.signal.aborted) return;
      if (!wasReady && !isKilled) return first.reject(new StartupError(`${name} did not start: ${how}`));
      failures = performance.now() - startedAt > STABLE_MS ? 1 : failures + 1;
      const pauseMs = pauseAfter(failures);
      report(`${name} ended (${how}); restarting ${pauseMs === 0 ? "now" : `in ${pauseMs / 1000} s`}`);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const done = runUntilStopped();
  return {
    name,
    ready: first.promise,
    async stop() {
      stopping.abort();
      await run?.stop();
      await done;
    },
    kill: () => run?.kill(),
  };
}

function notStarted(error: unknown): Ending {
  return { how: error instanceof Error ? error.message : String(error), isKilled: false };
}

/** The first restart is immediate. */
function pauseAfter(failures: number): number {
  return failures <= 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (failures - 2), MAX_PAUSE_MS);
}
