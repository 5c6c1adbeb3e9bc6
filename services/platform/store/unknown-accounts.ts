import { column, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { caseFrom, type CaseRow, type ReviewCase } from "#kernel/review/case-row.ts";

/** A check, and the reason of the reviews of its breaks. */
export type Reviewed = { readonly check: string; readonly reason: string };

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
export async function listUnreviewed(db: Queryable, { check, reason }: Reviewed, limit: number): Promise<string[]> {
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

/** Undecided reviews of that reason whose break was closed. */
export async function listObsolete(db: Queryable, { check, reason }: Reviewed, limit: number): Promise<ReviewCase[]> {
  const rows = await many<CaseRow>(
    db,
    sql`select *
        from review_case_row as review
        where state in ('OPEN', 'PROPOSED') and starts_with(subject, ${reason} || ':')
          and not exists (
            select from reconciliation_break as break
            where check_name = ${check} and opened_at is not null and closed_at is null and break.login = review.login
          )
        order by id
        limit ${limit}`,
  );
  return rows.map(caseFrom);
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
