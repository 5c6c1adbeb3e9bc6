import type { Pool } from "#kernel/postgres/pool.ts";
import { many, sql } from "#kernel/postgres/query.ts";

/** How many connections of the database wait for a lock. */
export async function countLockWaiters(pool: Pool): Promise<number> {
  const waiting = sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  return (await many(pool, waiting)).length;
}
