import { column, execute, fragment, many, matchesRow, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Role } from "../domain/role.ts";

/** An account without money, positions and anything in progress: nothing is missed while the platform does not show it. */
export const IS_EMPTY = fragment`log_minor = 0 and locked_by is null and undecided_from is null
  and not exists (select from leg where leg.login = account.login and leg.state in ('SENDING', 'UNKNOWN', 'REVIEW'))
  and not exists (select from leg where leg.login = account.login and leg.state = 'INTENT')
  and not exists (select from unlogged_leg where unlogged_leg.login = account.login)
  and not exists (select from open_position where open_position.login = account.login)`;

/** Those of the accounts that are empty, or were when they were noted as not shown: an Investor who leaves an archived one locks it. */
export async function listEmpty(db: Queryable, logins: readonly string[]): Promise<ReadonlySet<string>> {
  const empty = await column<string>(
    db,
    sql`select login
        from account
        where login = any (${logins}::text[]) and ((${IS_EMPTY}) or (unshown_since is not null and log_minor = 0))`,
  );
  return new Set(empty);
}

/** Notes that the platform does not show these accounts, of which the empty ones count. Returns those that were shown until now. */
export async function markUnshown(db: Queryable, logins: readonly string[]): Promise<string[]> {
  if (logins.length === 0) return [];
  return await column<string>(
    db,
    sql`with locked as materialized (
          select login
          from account
          where login = any (${logins}::text[]) and unshown_since is null and ${IS_EMPTY}
          order by login
          for no key update
        )
        update account
        set unshown_since = clock_timestamp()
        from locked
        where account.login = locked.login
        returning account.login`,
  );
}

/** How long before it was noted an account may have been away: lists of the accounts are read every ten minutes. */
const AWAY_BEFORE_MS = 1_200_000;

/** The platform shows the account, which was noted as not shown. Its history is read from before it was away. False when another process has done so. */
export async function markShown(tx: Transaction, login: string): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update account
        set unshown_since = null, missed_checks = 0, archived_at = null, returned_at = clock_timestamp(),
            undecided_from = least(
              coalesce(undecided_from, unshown_since), unshown_since - ${AWAY_BEFORE_MS} * interval '1 millisecond'
            )
        where login = ${login} and unshown_since is not null
        returning login`,
  );
}

/** The platform shows another account with this login: nothing is sent on it. False when the account has money or something in progress, which stays to be ended. */
export async function markReplaced(tx: Transaction, login: string): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update account
        set unshown_since = coalesce(unshown_since, clock_timestamp()), archived_at = coalesce(archived_at, clock_timestamp())
        where login = ${login} and (archived_at is not null or ${IS_EMPTY})
        returning login`,
  );
}

export type Registered = { readonly login: string; readonly registration: bigint | null };

/** When the platform has created the accounts; null to note it anew. */
export async function noteRegistrations(db: Queryable, accounts: readonly Registered[]): Promise<void> {
  if (accounts.length === 0) return;
  await execute(
    db,
    sql`with locked as materialized (
          select account.login, shown.registration
          from account
          join unnest(
            ${accounts.map(({ login }) => login)}::text[], ${accounts.map(({ registration }) => registration)}::bigint[]
          ) as shown (login, registration) on shown.login = account.login
          order by account.login
          for no key update of account
        )
        update account
        set registration = locked.registration
        from locked
        where account.login = locked.login`,
  );
}

/** False when something has begun on the account meanwhile. The account is locked, so nothing begins until the commit. */
export async function markArchived(tx: Transaction, login: string): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update account
        set archived_at = clock_timestamp()
        where login = ${login} and missed_checks >= ${CONFIRMING_CHECKS} and archived_at is null and ${IS_EMPTY}
        returning login`,
  );
}

/** Runs of the check in a row that were not shown an account before it is archived, as many as open a break. */
const CONFIRMING_CHECKS = 2;

export type Missed = { readonly login: string; readonly group: string };

/** Counts a run of the check that was not shown these accounts, of which those that were noted count. Returns those of enough runs. */
export async function countMissed(db: Queryable, logins: readonly string[]): Promise<Missed[]> {
  if (logins.length === 0) return [];
  const counted = await many<Missed & { readonly missedChecks: number }>(
    db,
    sql`with locked as materialized (
          select login
          from account
          where login = any (${logins}::text[]) and unshown_since is not null and archived_at is null
          order by login
          for no key update
        )
        update account
        set missed_checks = missed_checks + 1
        from locked
        where account.login = locked.login
        returning account.login, platform_group as "group", missed_checks as "missedChecks"`,
  );
  return counted.filter(({ missedChecks }) => missedChecks >= CONFIRMING_CHECKS);
}

/** An account that the platform should show. */
export async function findWitness(db: Queryable): Promise<string | undefined> {
  const [login] = await column<string>(
    db,
    sql`select login from account where unshown_since is null order by login limit 1`,
  );
  return login;
}

export type UnshownAccount = {
  readonly login: string;
  readonly role: Role;
  readonly unshownSince: Date;
  readonly archivedAt: Date | null;
};

/** A page of the accounts that are not shown, in the order of their logins. */
export async function listUnshown(db: Queryable, after: string, limit: number): Promise<UnshownAccount[]> {
  return await many<UnshownAccount>(
    db,
    sql`select login, role, unshown_since as "unshownSince", archived_at as "archivedAt"
        from account
        where unshown_since is not null and login > ${after}
        order by login
        limit ${limit}`,
  );
}

export type UnshownCount = { readonly archived: bigint; readonly unconfirmed: bigint };

export async function countUnshown(db: Queryable): Promise<UnshownCount> {
  return await one<UnshownCount>(
    db,
    sql`select count(archived_at) as archived, count(*) - count(archived_at) as unconfirmed
        from account
        where unshown_since is not null`,
  );
}

/** Those of the accounts that were noted as not shown, and whether they have no money. */
export async function listNotedUnshown(
  db: Queryable,
  logins: readonly string[],
): Promise<{ readonly login: string; readonly hasNoMoney: boolean }[]> {
  return await many(
    db,
    sql`select login, log_minor = 0 as "hasNoMoney"
        from account
        where login = any (${logins}::text[]) and unshown_since is not null`,
  );
}
