import type { Clock } from "#kernel/clock.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { deleteCommandsBefore } from "../store/idempotency-keys.ts";

export const KEPT_FOR_MS = 30 * 24 * 60 * 60 * 1_000;
const BATCH = 1_000;

/** True when there may be more. */
export async function pruneKeys(db: Queryable, now: Clock): Promise<boolean> {
  const before = new Date(now().getTime() - KEPT_FOR_MS);
  return (await deleteCommandsBefore(db, before, BATCH)) === BATCH;
}
