import { fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Log position up to which a login is filed. */
export type FiledNumber = { readonly login: string; readonly filedNumber: bigint };

const FILED = fragment`
  select login, filed_number as "filedNumber"
  from (select login, filed_number from investor_account union all select login, filed_number from master_pool) as account`;

/** Of some logins; without those of which no entry is filed. */
export async function findFiledNumbers(db: Queryable, logins: readonly string[]): Promise<FiledNumber[]> {
  return await many<FiledNumber>(db, sql`${FILED} where login = any(${logins}::text[])`);
}

/** Of accounts after a login, in the order of their logins. */
export async function listFiledNumbers(
  db: Queryable,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<FiledNumber[]> {
  return await many<FiledNumber>(db, sql`${FILED} where login > ${after} order by login limit ${limit}`);
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
