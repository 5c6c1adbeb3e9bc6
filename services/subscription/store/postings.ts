import { column, execute, fragment, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { MAX_AMOUNT } from "#kernel/money.ts";
import { retryAt, workQueue } from "#kernel/work-queue/work-queue.ts";

/** A transfer of allocated results to an Investor account; signed cents. */
export type Posting = {
  readonly id: bigint;
  readonly key: string;
  readonly investorLogin: string;
  readonly amount: bigint;
  /** Log position of the account from which the amount was calculated. */
  readonly filedNumber: bigint;
  readonly tries: number;
};

/**
 * Expression on an account: what of its unposted results can be posted. A share below zero is a loss that no money of the Investor in the pool
 * covers: it is not taken from what waits on the account, but posted when the share is above zero again.
 */
const postable = fragment`(account.unposted_minor + coalesce((
  select greatest(-holding.pooled_minor, 0) from holding where holding.subscription_id = account.pooled_subscription_id
), 0))`;

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
          select login, ${postable} as postable, filed_number
          from investor_account as account
          where unposted_minor <> 0 and ${postable} <> 0 and posting_next_at <= statement_timestamp()
            and not exists (select from posting where investor_login = account.login and state = 'OPEN')
            and not exists (
              select from holding join master_pool as pool on pool.login = holding.master_login
              where holding.subscription_id = account.pooled_subscription_id and pool.stopped_reason is not null
            )
          order by login
          limit ${limit}
          for no key update skip locked
        )
        insert into posting (investor_login, amount_minor, filed_number, state, created_at, next_try_at)
        select login, greatest(least(postable, ${MAX_AMOUNT.minor}::bigint), -${MAX_AMOUNT.minor}::bigint),
               filed_number, 'OPEN', ${at}, clock_timestamp()
        from due
        order by login
        on conflict do nothing`,
  );
}

/** Whether an Investor has results that are not posted, or a posting that is not in the log of its account. */
export async function listUnposted(db: Queryable, investorLogins: readonly string[]): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login
        from investor_account as account
        where login = any(${investorLogins}::text[])
          and (${postable} <> 0
               or exists (select from posting where investor_login = account.login and state = 'OPEN'))`,
  );
}

/** The open posting of one Investor, or a new one; undefined when no result is unposted. */
export async function openPostingOf(tx: Transaction, investorLogin: string, at: Date): Promise<Posting | undefined> {
  await maybeOne(tx, sql`select login from investor_account where login = ${investorLogin} for no key update`);
  await execute(
    tx,
    sql`insert into posting (investor_login, amount_minor, filed_number, state, created_at, next_try_at)
        select login, greatest(least(${postable}, ${MAX_AMOUNT.minor}::bigint), -${MAX_AMOUNT.minor}::bigint),
               filed_number, 'OPEN', ${at}, clock_timestamp()
        from investor_account as account
        where login = ${investorLogin} and ${postable} <> 0
          and not exists (select from posting where investor_login = ${investorLogin} and state = 'OPEN')
        on conflict do nothing`,
  );
  return maybeOne<Posting>(
    tx,
    sql`select id, key, investor_login as "investorLogin", amount_minor as amount,
               filed_number as "filedNumber", tries
        from posting
        where investor_login = ${investorLogin} and state = 'OPEN'`,
  );
}

/** Postings that are not in the log of their account. Those of a stopped Master wait. */
export const postingQueue = workQueue<Posting>({
  table: fragment`posting`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.state = 'OPEN'`,
  mayStart: fragment`not exists (
    select from investor_account as account
                join holding on holding.subscription_id = account.pooled_subscription_id
                join master_pool as pool on pool.login = holding.master_login
    where account.login = work.investor_login and pool.stopped_reason is not null
  )`,
  columns: fragment`id, key, investor_login as "investorLogin", amount_minor as amount, filed_number as "filedNumber"`,
});

/** Expression: when the next posting may be opened or sent. */
export const nextPostingDue = fragment`least(
  (
    select min(posting_next_at)
    from investor_account as account
    where unposted_minor <> 0 and ${postable} <> 0
      and not exists (select from posting where investor_login = account.login and state = 'OPEN')
      and not exists (
        select from holding join master_pool as pool on pool.login = holding.master_login
        where holding.subscription_id = account.pooled_subscription_id and pool.stopped_reason is not null
      )
  ),
  ${postingQueue.nextDue}
)`;

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

const AFTER_REFUSAL = retryAt(fragment`posting_refusals + 1`);

/** The posting was certainly not executed: its amount goes into the next one, after a pause. */
export async function refusePosting(
  tx: Transaction,
  { id, investorLogin }: Posting,
  { reason, at }: { readonly reason: string; readonly at: Date },
): Promise<void> {
  // The account is locked first, as by all transactions that lock both.
  await maybeOne(tx, sql`select login from investor_account where login = ${investorLogin} for no key update`);
  const refused = await execute(
    tx,
    sql`update posting
        set state = 'REFUSED', closed_at = ${at}, reason = ${reason}
        where id = ${id} and state = 'OPEN'`,
  );
  if (refused === 0) return;
  await execute(
    tx,
    sql`update investor_account
        set posting_refusals = posting_refusals + 1, posting_next_at = ${AFTER_REFUSAL}
        where login = ${investorLogin}`,
  );
}
