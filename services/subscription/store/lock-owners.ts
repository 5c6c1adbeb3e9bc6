import { column, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Those of the lock owners that a row has which still keeps its lock. */
export async function listLockOwners(db: Queryable, lockOwners: readonly string[]): Promise<string[]> {
  if (lockOwners.length === 0) return [];
  return await column<string>(
    db,
    sql`select lock_owner from departure where lock_owner = any (${lockOwners}::text[])
        union all
        select lock_owner from assignment where lock_owner = any (${lockOwners}::text[])`,
  );
}
