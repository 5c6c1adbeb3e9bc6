import {
  column,
  execute,
  fragment,
  many,
  matchesRow,
  one,
  type Queryable,
  sql,
  unnest,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** A posting that the books had lost. */
export type LostRow = { readonly login: string; readonly number: bigint; readonly amount: bigint; readonly at: Date };

export async function insertLostResults(tx: Transaction, rows: readonly LostRow[]): Promise<void> {
  if (rows.length === 0) return;
  await execute(
    tx,
    sql`insert into lost_result (login, number, amount_minor, posted_at)
        select * from ${unnest(rows)} as lost (login text, number bigint, amount bigint, at timestamptz)`,
  );
}

const OPEN_IN_POOLS = fragment`
  lost_result
  join investor_account as account on account.login = lost_result.login
  join holding on holding.subscription_id = account.pooled_subscription_id
  join master_pool as pool on pool.login = holding.master_login`;

/** Condition on such a row and its Master: nothing is divided by it yet, or its results are still to be allocated. Until then it would be posted back. */
const IS_TO_DIVIDE = fragment`(
  booked_at is null
  or exists (select from master_result where master_result.master_login = pool.login and allocated_at is null)
)`;

/** Masters that are not stopped, with postings to Investors in their pools whose results are still to be divided. */
export async function listMastersToDivide(db: Queryable): Promise<string[]> {
  return await column<string>(
    db,
    sql`select distinct pool.login
        from ${OPEN_IN_POOLS}
        where not is_settled and ${IS_TO_DIVIDE} and pool.stopped_reason is null
        order by pool.login`,
  );
}

/** Masters without an Investor in their pools whose results wait. */
export async function listMastersWithoutInvestors(db: Queryable): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login
        from master_pool
        where stopped_reason is null and own_units = 0 and holdings_units = 0
          and exists (select from master_result where master_login = login and allocated_at is null)
        order by login`,
  );
}

/** Those of the Investors in the pool, in the order of their times. The caller has locked the accounts. */
export async function listLostResults(tx: Transaction, masterLogin: string): Promise<LostRow[]> {
  return await many<LostRow>(
    tx,
    sql`select lost_result.login, lost_result.number, amount_minor as amount, posted_at as at
        from ${OPEN_IN_POOLS}
        where not is_settled and booked_at is null and holding.master_login = ${masterLogin}
        order by posted_at, lost_result.login, lost_result.number`,
  );
}

/** Of postings that are booked outside of a pool, the amount is with one of each account. */
export async function markBooked(
  tx: Transaction,
  rows: readonly (Pick<LostRow, "login" | "number"> & { readonly outside?: bigint })[],
  at: Date,
): Promise<void> {
  const booked = rows.map(({ login, number, outside = 0n }) => ({ login, number, outside }));
  await execute(
    tx,
    sql`update lost_result
        set booked_at = ${at}, outside_minor = booked.outside
        from ${unnest(booked)} as booked (login text, number bigint, outside bigint)
        where lost_result.login = booked.login and lost_result.number = booked.number`,
  );
}

/** Postings to Investors who are in no pool by the books, with what of them is not explained by results that were to be posted. Locks the accounts. */
export async function lockLostElsewhere(
  tx: Transaction,
  limit: number,
): Promise<(Pick<LostRow, "login" | "number"> & { readonly unposted: bigint })[]> {
  const logins = await column<string>(
    tx,
    sql`select login
        from investor_account as account
        where pooled_subscription_id is null
          and exists (
            select from lost_result where lost_result.login = account.login and not is_settled and booked_at is null
          )
        order by login
        limit ${limit}
        for no key update`,
  );
  return await many(
    tx,
    sql`select lost_result.login, lost_result.number, unposted_minor as unposted
        from lost_result join investor_account on investor_account.login = lost_result.login
        where lost_result.login = any(${logins}::text[]) and not is_settled and booked_at is null
        order by lost_result.login, lost_result.number`,
  );
}

/** What was posted stays on the accounts: outside of a pool, or in one as external funds. */
export async function keepOnAccounts(tx: Transaction, logins: readonly string[]): Promise<void> {
  await execute(
    tx,
    sql`update investor_account
        set outside_minor = case when pooled_subscription_id is null then outside_minor - unposted_minor else outside_minor end,
            quarantined_minor = case when pooled_subscription_id is null then quarantined_minor else quarantined_minor - unposted_minor end,
            unposted_minor = 0
        where login = any(${logins}::text[])`,
  );
}

/** What results of lost time are more than their postings in the pool and the part of own capital. `imported` of it settles flows. */
export async function addUnexplained(
  tx: Transaction,
  masterLogin: string,
  { unexplained, imported }: { readonly unexplained: bigint; readonly imported: bigint },
): Promise<void> {
  await execute(
    tx,
    sql`update master_pool
        set unexplained_minor = unexplained_minor + ${unexplained}, imported_mirrors_minor = imported_mirrors_minor + ${imported}
        where login = ${masterLogin}`,
  );
}

/** Operators have decided that it stays on the Master. */
export async function acknowledgeUnexplained(tx: Transaction, masterLogin: string): Promise<void> {
  await execute(tx, sql`update master_pool set unexplained_minor = 0 where login = ${masterLogin}`);
}

export type Unexplained = { readonly login: string; readonly amount: bigint };

export async function listUnexplained(db: Queryable): Promise<Unexplained[]> {
  return await many<Unexplained>(
    db,
    sql`select login, unexplained_minor as amount from master_pool where unexplained_minor <> 0 order by login`,
  );
}

/** What was posted to Investors who are in no pool by the books. */
export async function sumElsewhere(db: Queryable): Promise<bigint> {
  const { elsewhere } = await one<{ elsewhere: bigint }>(
    db,
    sql`select coalesce(sum(outside_minor), 0)::bigint as elsewhere from lost_result where not is_settled`,
  );
  return elsewhere;
}

/** A Master that is stopped books its postings when operators have resumed it. */
export async function hasLostToBook(db: Queryable): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select lost_result.login
        from lost_result
             join investor_account as account on account.login = lost_result.login
             left join holding on holding.subscription_id = account.pooled_subscription_id
             left join master_pool as pool on pool.login = holding.master_login
        where not is_settled and ${IS_TO_DIVIDE} and pool.stopped_reason is null
        limit 1`,
  );
}

/** The next restore has postings of its own. */
export async function settleLostResults(tx: Transaction): Promise<void> {
  await execute(tx, sql`update lost_result set is_settled = true where not is_settled and booked_at is not null`);
  await execute(tx, sql`update master_pool set unexplained_minor = 0 where unexplained_minor <> 0`);
}
