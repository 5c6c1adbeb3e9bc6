/** Wakes one waiting loop. A signal to a busy loop is remembered, so that work that arrives during a run is not delayed. */
export type WakeSignal = {
  readonly notify: () => void;
  /** Resolves at the next signal, at once when one is remembered, after the timeout, or when aborted; never rejects. */
  readonly wait: (timeoutMs: number, signal: AbortSignal) => Promise<void>;
};

export function createWakeSignal(): WakeSignal {
  let hasNotified = false;
  let wake = (): void => {};
  return {
    notify() {
      hasNotified = true;
      wake();
    },
    async wait(timeoutMs, signal) {
      if (!hasNotified) await pause(timeoutMs, signal, (resolve) => (wake = resolve));
      wake = () => {};
      hasNotified = false;
    },
  };
}

/** Sleeps for the given time, or until aborted. */
export async function pause(
  ms: number,
  signal: AbortSignal,
  onStart: (wake: () => void) => void = () => {},
): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const wake = (): void => resolve();
  signal.addEventListener("abort", wake, { once: true });
  onStart(wake);
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", wake);
}
