import { column, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Subject of the review about an account that this service has created and does not know. */
export const UNKNOWN_ACCOUNT = "unknown_account";

export function unknownSubject(login: string): string {
  return `${UNKNOWN_ACCOUNT}:${login}`;
}

/** Those of the logins that are managed. */
export async function listManagedOf(db: Queryable, logins: readonly string[]): Promise<string[]> {
  return await column<string>(db, sql`select login from account where login = any (${logins}::text[])`);
}

/** The account with this tag, if the check has found it. */
export async function findUnknownByTag(db: Queryable, tag: string): Promise<string | undefined> {
  const [login] = await column<string>(
    db,
    sql`select login
        from reconciliation_break
        where check_name = 'unknown_accounts' and opened_at is not null and closed_at is null
          and evidence ->> 'tag' = ${tag}
        limit 1`,
  );
  return login;
}

/** Logins with an open break of this check, for which no review was opened yet, ascending. */
export async function listUnreviewed(db: Queryable, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login
        from reconciliation_break
        where check_name = 'unknown_accounts' and opened_at is not null and closed_at is null
          and not exists (
            select from review_case where subject = ${UNKNOWN_ACCOUNT} || ':' || reconciliation_break.login
          )
        order by login
        limit ${limit}`,
  );
}
