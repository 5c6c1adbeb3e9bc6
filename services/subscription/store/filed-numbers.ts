import { many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";

/** How far the log of a login is filed; -1 when nothing of it is. */
export async function findFiledNumber(db: Queryable, login: string): Promise<bigint> {
  const row = await maybeOne<{ filedNumber: bigint }>(
    db,
    sql`select filed_number as "filedNumber" from investor_account where login = ${login}
        union all
        select filed_number from master_pool where login = ${login}`,
  );
  return row?.filedNumber ?? -1n;
}

/** Logins of which an entry was heard that does not follow the last one filed. */
export async function listGaps(db: Queryable, limit: number): Promise<{ login: string; receivedNumber: bigint }[]> {
  return many(
    db,
    sql`select login, received_number as "receivedNumber" from investor_account where received_number > filed_number
        union all
        select login, received_number from master_pool where received_number > filed_number
        limit ${limit}`,
  );
}
