import type { Transaction } from "../postgres/transaction.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

export type LockWait = {
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** The transaction that holds the lock. */
  readonly blocker: Transaction;
  readonly forMs: number;
};

/** Calls `retry` when the blocking transaction has ended, or `giveUp` after `forMs`: one of them, once. */
export function waitForEnd(
  { scheduler, random, blocker, forMs }: LockWait,
  retry: () => void,
  giveUp: () => void,
): void {
  let isOver = false;
  const once = (next: () => void) => (): void => {
    if (isOver) return;
    isOver = true;
    next();
  };
  const timer = scheduler.after(forMs, "lock time-out", once(giveUp));
  blocker.whenFree(
    once(() => {
      timer.cancel();
      scheduler.after(random.next() / 10, "lock is free", retry);
    }),
  );
}
