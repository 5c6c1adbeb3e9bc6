/** Work that goes on until it is disposed. A failure that ends it comes out of `done` and must reach the service. */
export type Loop = AsyncDisposable & {
  /** There may be something to do now. Costs nothing and never fails. */
  readonly wake: () => void;
  readonly done: Promise<void>;
};

export type LoopOptions = {
  /** One bounded piece of work, safe to run at any time. True when there may be more of it at once. */
  readonly turn: (signal: AbortSignal) => Promise<boolean>;
  /** Looks at least this often, because wake-ups may be lost. */
  readonly pollMs: number;
  /** Decides about a failure: return and it is tried again after a growing delay, throw and the loop ends with it. */
  readonly onFailure: (error: unknown, failuresInARow: number) => void;
};

const FIRST_BACK_OFF_MS = 100;
const MAX_BACK_OFF_MS = 10_000;

export function startLoop({ turn, pollMs, onFailure }: LoopOptions): Loop {
  const stop = new AbortController();
  let isWoken = false;
  let isIdle = false;
  let endPause = (): void => undefined;

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!stop.signal.aborted) {
      // Forgotten before the turn, so that a wake-up in the middle of it leads to another turn.
      isWoken = false;
      try {
        const isMore = await turn(stop.signal);
        failures = 0;
        isIdle = !isMore && !isWoken && !stop.signal.aborted;
        if (isIdle) await pause(pollMs);
        isIdle = false;
      } catch (error) {
        if (stop.signal.aborted) return;
        failures += 1;
        onFailure(error, failures);
        await pause(backOffMs(failures));
      }
    }
  }

  // Begins after the caller has the loop in hand, because turns often wake other loops.
  const done = Promise.resolve().then(run);
  return {
    done,
    wake() {
      isWoken = true;
      if (isIdle) endPause();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      endPause();
      // Whoever watches `done` has been told already.
      await done.catch(() => undefined);
    },
  };
}

/** Doubles up to the limit; the random half keeps replicas from trying in step. */
export function backOffMs(failures: number): number {
  const full = Math.min(FIRST_BACK_OFF_MS * 2 ** Math.min(failures - 1, 20), MAX_BACK_OFF_MS);
  return full / 2 + (Math.random() * full) / 2;
}
