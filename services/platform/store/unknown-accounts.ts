import { column, type Queryable, sql } from "#kernel/postgres/query.ts";

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

/** Logins with an open break of the check and without a review of that reason that is open or decided, ascending. */
export async function listUnreviewed(
  db: Queryable,
  { check, reason }: { readonly check: string; readonly reason: string },
  limit: number,
): Promise<string[]> {
  return await column<string>(
    db,
    sql`select distinct login
        from reconciliation_break
        where check_name = ${check} and opened_at is not null and closed_at is null
          and not exists (
            select from review_case
            where subject = ${reason} || ':' || reconciliation_break.login and state <> 'OBSOLETE'
          )
        order by login
        limit ${limit}`,
  );
}

/** Those of the logins that have an open break of the check. */
export async function listBroken(db: Queryable, check: string, logins: readonly string[]): Promise<string[]> {
  if (logins.length === 0) return [];
  return await column<string>(
    db,
    sql`select login
        from reconciliation_break
        where check_name = ${check} and opened_at is not null and closed_at is null and login = any (${logins}::text[])`,
  );
}

/** Accounts that the check has found, under this name in this group, unless they were registered or acknowledged since. */
export async function listUnknownNamed(
  db: Queryable,
  { group, name }: { readonly group: string; readonly name: string },
  limit: number,
): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login
        from reconciliation_break
        where check_name = 'unknown_accounts' and opened_at is not null and closed_at is null
          and evidence ->> 'group' = ${group} and evidence ->> 'name' = ${name}
          and not exists (select from account where account.login = reconciliation_break.login)
          and not exists (
            select from review_case where subject = 'unknown_account:' || reconciliation_break.login and state = 'DECIDED'
          )
        order by login
        limit ${limit}`,
  );
}
