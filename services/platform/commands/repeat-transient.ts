import { setTimeout as delay } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import { isTransient } from "#kernel/postgres/failure.ts";

/** After these the caller has to retry. */
const MAX_TRIES = 4;
/** Short, because the caller waits. */
const RETRY_MS = 100;

/**
 * Repeats work after a transient failure of the database, such as a lock that is held for too long. Only for work under a
 * key, which finds what an earlier try has committed without a confirmation.
 */
export async function repeatTransient<T>(context: CallContext, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || tries === MAX_TRIES || remainingMs(context) < REPLY_RESERVE_MS) throw error;
      await delay(RETRY_MS);
    }
  }
}
