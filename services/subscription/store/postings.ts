import { execute, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { MAX_AMOUNT } from "#kernel/money.ts";

/** A transfer of allocated results to an Investor account; signed cents. */
export type Posting = {
  readonly id: bigint;
  readonly key: string;
  readonly investorLogin: string;
  readonly amount: bigint;
  readonly tries: number;
};

/** Adds allocated results. Resets the back-off, because the reason of the last refusal may no longer apply. */
export async function addUnposted(
  tx: Transaction,
  amounts: readonly { readonly investorLogin: string; readonly amount: bigint }[],
): Promise<void> {
  if (amounts.length === 0) return;
  await many(
    tx,
    sql`update investor_account
        set unposted_minor = unposted_minor + part.amount, posting_refusals = 0, posting_next_at = '-infinity'
        from unnest(
          ${amounts.map(({ investorLogin }) => investorLogin)}::text[],
          ${amounts.map(({ amount }) => amount)}::bigint[]
        ) as part (login, amount)
        where investor_account.login = part.login`,
  );
}

/**
 * Opens one posting per Investor for its unposted results, up to the maximum of one transfer; not while a posting is
 * open or the Master is stopped. Locks the accounts in the order of their logins.
 */
export async function openPostings(db: Queryable, at: Date, limit: number): Promise<number> {
  return execute(
    db,
    sql`with due as (
          select login, unposted_minor
          from investor_account as account
          where unposted_minor <> 0 and posting_next_at <= ${at}
            and not exists (select from posting where investor_login = account.login and state = 'OPEN')
            and not exists (
              select from holding join master_pool as pool on pool.login = holding.master_login
              where holding.subscription_id = account.pooled_subscription_id and pool.stopped_reason is not null
            )
          order by login
          limit ${limit}
          for no key update skip locked
        )
        insert into posting (investor_login, amount_minor, state, created_at, next_try_at)
        select login, greatest(least(unposted_minor, ${MAX_AMOUNT.minor}::bigint), -${MAX_AMOUNT.minor}::bigint),
               'OPEN', ${at}, ${at}
        from due
        order by login
        on conflict do nothing`,
  );
}

/** The open posting of one Investor, or a new one; undefined when no result is unposted. */
export async function openPostingOf(tx: Transaction, investorLogin: string, at: Date): Promise<Posting | undefined> {
  await maybeOne(tx, sql`select login from investor_account where login = ${investorLogin} for no key update`);
  await execute(
    tx,
    sql`insert into posting (investor_login, amount_minor, state, created_at, next_try_at)
        select login, greatest(least(unposted_minor, ${MAX_AMOUNT.minor}::bigint), -${MAX_AMOUNT.minor}::bigint),
               'OPEN', ${at}, ${at}
        from investor_account
        where login = ${investorLogin} and unposted_minor <> 0
          and not exists (select from posting where investor_login = ${investorLogin} and state = 'OPEN')
        on conflict do nothing`,
  );
  return maybeOne<Posting>(
    tx,
    sql`select id, key, investor_login as "investorLogin", amount_minor as amount, tries
        from posting
        where investor_login = ${investorLogin} and state = 'OPEN'`,
  );
}

/**
 * Claims due postings, except those of a stopped Master: other replicas do not process them until `until`.
 */
export async function claimPostings(db: Queryable, now: Date, until: Date, limit: number): Promise<Posting[]> {
  return many<Posting>(
    db,
    sql`update posting
        set next_try_at = ${until}, tries = tries + 1
        where id in (
          select id
          from posting
          where state = 'OPEN' and next_try_at <= ${now}
            and not exists (
              select from investor_account as account
                          join holding on holding.subscription_id = account.pooled_subscription_id
                          join master_pool as pool on pool.login = holding.master_login
              where account.login = posting.investor_login and pool.stopped_reason is not null
            )
          order by next_try_at
          limit ${limit}
          for no key update skip locked
        )
        returning id, key, investor_login as "investorLogin", amount_minor as amount, tries`,
  );
}

export type Delay = { readonly id: bigint; readonly until: Date; readonly reason: string };

export async function postponePostings(db: Queryable, delays: readonly Delay[]): Promise<void> {
  if (delays.length === 0) return;
  await many(
    db,
    sql`update posting
        set next_try_at = delay.until, reason = delay.reason
        from unnest(
          ${delays.map(({ id }) => id)}::bigint[],
          ${delays.map(({ until }) => until)}::timestamptz[],
          ${delays.map(({ reason }) => reason)}::text[]
        ) as delay (id, until, reason)
        where posting.id = delay.id and posting.state = 'OPEN'`,
  );
}

/** The postings are in the log of the accounts, which counts more than the answers of platform. */
export async function markPostingsApplied(tx: Transaction, keys: readonly string[], at: Date): Promise<void> {
  if (keys.length === 0) return;
  await many(
    tx,
    sql`update posting
        set state = 'APPLIED', closed_at = ${at}, reason = null
        where key = any(${keys}::text[]) and state = 'OPEN'`,
  );
}

/**
 * The posting was certainly not executed: its amount goes into the next one, after `nextAt`. False when no longer open.
 */
export async function refusePosting(
  tx: Transaction,
  { id, investorLogin }: Posting,
  { reason, at, nextAt }: { readonly reason: string; readonly at: Date; readonly nextAt: (refusals: number) => Date },
): Promise<boolean> {
  const account = await maybeOne<{ refusals: number }>(
    tx,
    sql`select posting_refusals as refusals from investor_account where login = ${investorLogin} for no key update`,
  );
  const changed = await execute(
    tx,
    sql`update posting
        set state = 'REFUSED', closed_at = ${at}, reason = ${reason}
        where id = ${id} and state = 'OPEN'`,
  );
  if (changed === 0 || account === undefined) return false;
  const refusals = account.refusals + 1;
  await execute(
    tx,
    sql`update investor_account
        set posting_refusals = ${refusals}, posting_next_at = ${nextAt(refusals)}
        where login = ${investorLogin}`,
  );
  return true;
}
