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
