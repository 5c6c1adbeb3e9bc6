import { column, fragment, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Of rows that are named `wanted`. */
export const IS_FLAT = fragment`
  not exists (select from pool_position where master_login = wanted.login)
  and not exists (select from master_result where master_login = wanted.login and allocated_at is null)`;

/** Flat by the books: no open position, and no deal that is still to be allocated. A Master without a pool is. */
export async function listFlat(db: Queryable, masterLogins: readonly string[]): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login from unnest(${masterLogins}::text[]) as wanted (login) where ${IS_FLAT}`,
  );
}
