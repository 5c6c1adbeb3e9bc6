import { setTimeout as sleep } from "node:timers/promises";

export type PollOptions = {
  /** What the poll waits for, for the message at the time limit. */
  readonly what: string;
  readonly withinMs: number;
  readonly everyMs: number;
};

/** The scenario cannot continue, or its result is wrong. The message is for the terminal. */
export class DemoFailure extends Error {
  override readonly name = "DemoFailure";
}

/** Polls until a result or the time limit; the error then contains the last known state. */
export async function poll<T>(
  options: PollOptions,
  read: () => Promise<T | undefined>,
  state: () => string,
): Promise<T> {
  const found = await pollOr(options, read);
  if (found !== undefined) return found;
  const { what, withinMs } = options;
  throw new DemoFailure(`timed out after ${withinMs / 1_000} s: waited for ${what}, last read ${state()}`);
}

/** Like `poll`, but returns undefined at the time limit. */
export async function pollOr<T>(
  { withinMs, everyMs }: Omit<PollOptions, "what">,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const until = Date.now() + withinMs;
  for (;;) {
    const found = await read();
    if (found !== undefined || Date.now() >= until) return found;
    await sleep(everyMs);
  }
}
