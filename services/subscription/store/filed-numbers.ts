import { fragment, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Log position up to which a login is filed; -1 when no entry is. */
export async function findFiledNumber(db: Queryable, login: string): Promise<bigint> {
  const row = await maybeOne<{ filedNumber: bigint }>(
    db,
    sql`select filed_number as "filedNumber" from investor_account where login = ${login}
        union all
        select filed_number from master_pool where login = ${login}`,
  );
  return row?.filedNumber ?? -1n;
}

/** Logins with received entries that do not follow the last filed one. */
export async function listGaps(db: Queryable, limit: number): Promise<{ login: string; receivedNumber: bigint }[]> {
  return many(
    db,
    sql`select login, "receivedNumber"
        from (
          select login, received_number as "receivedNumber"
          from investor_account
          where received_number > filed_number
          order by login
          limit ${limit}
        ) as investor
        union all
        select login, received_number from master_pool where received_number > filed_number
        limit ${limit}`,
  );
}

/** Expression: an instant in the past when the log of a login has a gap. In order, so that the index of gaps is read, not the table. */
export const nextGap = fragment`(
  select '-infinity'::timestamptz
  where (select login from investor_account where received_number > filed_number order by login limit 1) is not null
     or exists (select from master_pool where received_number > filed_number)
)`;
