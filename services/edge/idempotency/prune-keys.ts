import type { Clock } from "#kernel/clock.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { DAY_MS } from "#kernel/duration.ts";
import { deleteCommandsBefore } from "../store/idempotency-keys.ts";

/** Longer than a client may retry a request; the documentation of the Idempotency-Key promises it. */
export const KEPT_FOR_MS = 30 * DAY_MS;
/** Keeps the transaction, and with it the locks, short. */
const BATCH = 1_000;

/** True when there may be more. */
export async function pruneKeys(db: Queryable, now: Clock): Promise<boolean> {
  const before = new Date(now().getTime() - KEPT_FOR_MS);
  return (await deleteCommandsBefore(db, before, BATCH)) === BATCH;
}
