import {
  column,
  execute,
  type Fragment,
  fragment,
  many,
  matchesRow,
  maybeOne,
  type Queryable,
  sql,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { retryAt } from "#kernel/work-queue/work-queue.ts";
import type { Role } from "../domain/role.ts";

/** An account that gets its right to trade back. Its role is undefined when it was taken for a registration that did not end. */
export type TakenRight = { readonly login: string; readonly role: Role | undefined; readonly tries: number };

/**
 * A registration of a payment account is recorded by account after platform has committed it, within the 30 seconds that its caller waits.
 * An assignment is recorded before.
 */
const KEPT_FOR_MS = 60_000;
/** Longer than an attempt to give a right back, which is three requests to the platform. */
const RETURN_MS = 60_000;
/** An account that the platform does not show, or a manager without the right, may stay so for months. */
const MAX_PAUSE_MS = 3_600_000;
const NEXT_TRY = retryAt(fragment`tries`, MAX_PAUSE_MS);

/** Condition of a row: no process gives its right back now. */
const IS_KEPT = fragment`(taken_right.returning_until is null or taken_right.returning_until <= clock_timestamp())`;

/**
 * Recorded before the command that takes the right. A row that exists stays: the account had the right when it was taken first. False
 * while the right is being given back.
 */
export async function recordTaken(db: Queryable, login: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`insert into taken_right (login)
        values (${login})
        on conflict (login) do update
        set taken_at = clock_timestamp(), next_try_at = clock_timestamp(), tries = 0, reason = null, returning_until = null
        where ${IS_KEPT}`,
  );
}

/** As recordTaken, for an account whose right may be taken already. False while it is being given back. */
export async function keepTaken(db: Queryable, login: string): Promise<boolean> {
  const row = await maybeOne<{ isReturning: boolean }>(
    db,
    sql`update taken_right
        set taken_at = case when returning_until > clock_timestamp() then taken_at else clock_timestamp() end
        where login = ${login}
        returning coalesce(returning_until > clock_timestamp(), false) as "isReturning"`,
  );
  return row?.isReturning !== true;
}

/** Condition of a row whose account is an Investor, or not: a try is due. */
function isDue(isInvestor: Fragment): Fragment {
  return fragment`taken_right.next_try_at <= clock_timestamp() and ${IS_KEPT}
          and (${isInvestor} or taken_right.taken_at < clock_timestamp() - ${KEPT_FOR_MS} * interval '1 millisecond')`;
}

const OF_INVESTOR = fragment`coalesce(account.role, '') = 'investor'`;

/** Those after a login, ascending, for which a try is due. */
export async function listTaken(db: Queryable, after: string, limit: number): Promise<TakenRight[]> {
  return await many<TakenRight>(
    db,
    sql`select taken_right.login, account.role, taken_right.tries
        from taken_right
        left join account on account.login = taken_right.login
        where taken_right.login > ${after} and account.unshown_since is null and ${isDue(OF_INVESTOR)}
        order by taken_right.login
        limit ${limit}`,
  );
}

/** Locks the row until commit: the right is neither taken nor given back by another process meanwhile. False when it was taken again. */
export async function lockTaken(tx: Transaction, { login, role, tries }: TakenRight): Promise<boolean> {
  const isInvestor = fragment`${role === "investor"}::boolean`;
  return await matchesRow(
    tx,
    sql`select login from taken_right where login = ${login} and tries = ${tries} and ${isDue(isInvestor)} for update`,
  );
}

/** From now on the account is neither locked nor registered, until its right was given back or the time is over. */
export async function beginReturn(tx: Transaction, login: string): Promise<void> {
  await execute(
    tx,
    sql`update taken_right
        set returning_until = clock_timestamp() + ${RETURN_MS} * interval '1 millisecond', tries = tries + 1
        where login = ${login}`,
  );
}

export async function isReturning(db: Queryable, login: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select login from taken_right where login = ${login} and returning_until > clock_timestamp()`,
  );
}

/** The account has its right again. */
export async function endReturn(db: Queryable, login: string): Promise<void> {
  await execute(db, sql`delete from taken_right where login = ${login} and returning_until is not null`);
}

/** A command that was sent may still be executed: then the account is kept until the time of this try is over. */
export async function returnLater(
  db: Queryable,
  login: string,
  { reason, maySent }: { readonly reason: string; readonly maySent: boolean },
): Promise<void> {
  await execute(
    db,
    sql`update taken_right
        set returning_until = case when ${maySent}::boolean then returning_until end, reason = ${reason},
            next_try_at = ${NEXT_TRY}
        where login = ${login} and returning_until is not null`,
  );
}

/** The account is never given its right back. False while that is being done. */
export async function forgetTaken(db: Queryable, login: string): Promise<boolean> {
  await execute(db, sql`delete from taken_right where login = ${login} and ${IS_KEPT}`);
  return !(await isReturning(db, login));
}

/** Accounts that the check has found to trade although they must not, ascending. */
export async function listTrading(db: Queryable, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select distinct login
        from reconciliation_break
        where check_name = 'trading_rights' and starts_with(key, 'login:') and opened_at is not null and closed_at is null
        order by login
        limit ${limit}`,
  );
}
