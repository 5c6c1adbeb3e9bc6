export type Deadline = {
  readonly signal: AbortSignal;
  readonly remainingMs: () => number;
  readonly end: () => void;
};

/** A signal that is aborted when the time is over or the other signal is. `AbortSignal.any` of Node 20 may lose its sources. */
export function deadlineIn(ms: number, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const until = Date.now() + ms;
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${ms} ms`)), ms);
  const forward = (): void => controller.abort(outer?.reason);
  if (outer?.aborted === true) forward();
  outer?.addEventListener("abort", forward);
  return {
    signal: controller.signal,
    remainingMs: () => Math.max(0, until - Date.now()),
    end() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", forward);
    },
  };
}
