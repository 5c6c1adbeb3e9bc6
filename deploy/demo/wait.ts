import { setTimeout as sleep } from "node:timers/promises";

export type Patience = {
  /** What is waited for, to be said when it does not come. */
  readonly what: string;
  readonly withinMs: number;
  readonly everyMs: number;
};

/** The story cannot go on, or its end is not what it has to be. The message is for people. */
export class DemoFailure extends Error {
  override readonly name = "DemoFailure";
}

/** Bounded polling: a delay between looks, an end by result or by time, and the last known state told at the end. */
export async function poll<T>(patience: Patience, look: () => Promise<T | undefined>, state: () => string): Promise<T> {
  const found = await pollOr(patience, look);
  if (found !== undefined) return found;
  const { what, withinMs } = patience;
  throw new DemoFailure(`${what} did not come within ${withinMs / 1_000} s. Last known: ${state()}`);
}

/** As poll, but not finding anything is a result too. */
export async function pollOr<T>(
  { withinMs, everyMs }: Omit<Patience, "what">,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const until = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || Date.now() >= until) return found;
    await sleep(everyMs);
  }
}
