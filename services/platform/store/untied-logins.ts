import { many, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";

/** Accounts that are not what their logs say, by the check that compares them, and about whose past something was told. */
export async function listUntiedLogins(db: Queryable, limit: number): Promise<string[]> {
  const rows = await many<{ login: string }>(
    db,
    sql`select distinct login
        from reconciliation_break
        where check_name = 'R5' and opened_at is not null and closed_at is null
          and exists (
            select from log_entry
            where log_entry.login = reconciliation_break.login and kind = 'irregularity' and irregularity <> 'deal_surplus'
          )
        order by login
        limit ${limit}`,
  );
  return rows.map(({ login }) => login);
}
