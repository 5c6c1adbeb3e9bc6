import { setTimeout as sleep } from "node:timers/promises";
import { StartupError } from "#kernel/startup-error.ts";
import type { Life } from "./life.ts";
import type { Ending } from "./tied-process.ts";

export type Say = (text: string) => void;

export type Kept = {
  readonly name: string;
  /** Resolves when it was ready once; rejects when its first start failed. */
  readonly ready: Promise<void>;
  /** It ends and is not started again. */
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
};

/** Who has lived that long has not died again and again. */
const STABLE_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Starts it, and starts it again whenever it ends: at once, and with growing pauses when that does not help. */
export function keepRunning(name: string, start: () => Promise<Life>, say: Say): Kept {
  const stopping = new AbortController();
  const first = Promise.withResolvers<void>();
  let life: Life | undefined;
  let wasReady = false;

  async function liveOnce(): Promise<Ending> {
    life = await start();
    if (stopping.signal.aborted) await life.stop();
    life.ready.then(() => {
      if (wasReady && !stopping.signal.aborted) say(`${name} runs again`);
      wasReady = true;
      first.resolve();
    }, first.reject);
    return life.ended;
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted;) {
      const bornAt = performance.now();
      const { how, isKilled } = await liveOnce().catch((error: unknown) => notStarted(error));
      if (stopping.signal.aborted) return;
      if (!wasReady && !isKilled) return first.reject(new StartupError(`${name} did not start: ${how}`));
      failures = performance.now() - bornAt > STABLE_MS ? 1 : failures + 1;
      const pauseMs = pauseAfter(failures);
      say(`${name} ended (${how}); starting it again ${pauseMs === 0 ? "now" : `in ${pauseMs / 1000} s`}`);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const done = run();
  return {
    name,
    ready: first.promise,
    async stop() {
      stopping.abort();
      await life?.stop();
      await done;
    },
    kill: () => life?.kill(),
  };
}

function notStarted(error: unknown): Ending {
  return { how: error instanceof Error ? error.message : String(error), isKilled: false };
}

/** Nobody was told of the first death before, so the first try costs nothing. */
function pauseAfter(failures: number): number {
  return failures <= 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (failures - 2), LONGEST_PAUSE_MS);
}
