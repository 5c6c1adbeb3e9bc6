/** Wakes whoever waits. Ringing is remembered once, so work that arrives while a loop is busy is not slept over. */
export type Bell = {
  readonly ring: () => void;
  /** Resolves at the next ring, at once when one was missed, after the time-out, or when aborted; never rejects. */
  readonly wait: (timeoutMs: number, signal: AbortSignal) => Promise<void>;
};

export function createBell(): Bell {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async wait(timeoutMs, signal) {
      if (!rung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          const stop = (): void => {
            clearTimeout(timer);
            resolve();
          };
          wake = stop;
          signal.addEventListener("abort", stop, { once: true });
        });
      }
      wake = undefined;
      rung = false;
    },
  };
}
