import { column, execute, fragment, many, maybeOne, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { MAX_AMOUNT } from "#kernel/values/money.ts";
import { CLAIM_MS } from "#kernel/jobs/retry.ts";
import { retryAt } from "#kernel/work-queue/work-queue.ts";
import type { Part } from "../domain/pool/unit-pool.ts";
import { GENERATION } from "./permit-generation.ts";
import { ARE_BOOKS_WHOLE } from "./settled-database.ts";

/** A transfer of allocated results to an Investor account that is in flight; signed cents. */
export type Posting = {
  readonly investorLogin: string;
  readonly number: bigint;
  readonly amount: bigint;
  /** Of platform's permits, in which the amount was calculated. */
  readonly generation: bigint;
  readonly tries: number;
};

/**
 * Expression on an account: what of its unposted results can be posted. A share below zero is a loss that no money of the Investor in the pool
 * covers: it is not taken from what waits on the account, but posted when the share is above zero again.
 */
const postable = fragment`(account.unposted_minor + coalesce((
  select greatest(-holding.pooled_minor, 0) from holding where holding.subscription_id = account.pooled_subscription_id
), 0))`;

/** Condition on an account: it has a posting in flight, or results for one. */
const hasPosting = fragment`(account.posting_minor is not null or ${postable} <> 0)`;

/** Condition on an account: as hasPosting, and its Master is not stopped. The first part is that of the index. */
const mayPost = fragment`(account.unposted_minor <> 0 or account.posting_minor is not null) and ${hasPosting} and ${ARE_BOOKS_WHOLE}
  and not exists (
    select from holding join master_pool as pool on pool.login = holding.master_login
    where holding.subscription_id = account.pooled_subscription_id and pool.stopped_reason is not null
  )`;

/** Adds allocated results. Resets the back-off, because the reason of the last refusal may no longer apply. */
export async function addUnposted(tx: Transaction, parts: readonly Part[]): Promise<void> {
  if (parts.length === 0) return;
  await execute(
    tx,
    sql`update investor_account
        set unposted_minor = unposted_minor + part.amount, posting_refusals = 0,
            posting_next_at = case when posting_minor is null then '-infinity' else posting_next_at end
        from (
               select investor_login, sum(amount)::bigint as amount
               from ${unnest(parts)} as allocated (subscription_id bigint, amount bigint)
                    join holding on holding.subscription_id = allocated.subscription_id
               group by investor_login
             ) as part
        where investor_account.login = part.investor_login`,
  );
}

/** Locks the accounts whose posting may be made or sent now, the longest due first; leaves out those that are locked. */
export async function lockDuePostings(tx: Transaction, limit: number): Promise<string[]> {
  return await column<string>(
    tx,
    sql`select login
        from investor_account as account
        where posting_next_at <= statement_timestamp() and ${mayPost}
        order by posting_next_at, login
        limit ${limit}
        for no key update skip locked`,
  );
}

export async function lockPostingOf(tx: Transaction, investorLogin: string): Promise<void> {
  await maybeOne(tx, sql`select login from investor_account where login = ${investorLogin} for no key update`);
}

/**
 * Claims the posting in flight of each of these accounts, or makes one of its unposted results, up to the maximum of one transfer; none without either. The
 * accounts are locked before, so that their amounts are those of the snapshot. No replica sends it until the claim ends.
 */
export async function claimPostings(tx: Transaction, investorLogins: readonly string[]): Promise<Posting[]> {
  const claimed = await many<Posting>(
    tx,
    sql`update investor_account as account
        set posting_number = case when posting_minor is null then posting_number + 1 else posting_number end,
            posting_minor = coalesce(posting_minor, greatest(least(${postable}, ${MAX_AMOUNT.minor}::bigint), -${MAX_AMOUNT.minor}::bigint)),
            posting_generation = coalesce(posting_generation, ${GENERATION}),
            posting_tries = case when posting_minor is null then 1 else posting_tries + 1 end,
            posting_reason = case when posting_minor is null then null else posting_reason end,
            posting_next_at = clock_timestamp() + ${CLAIM_MS} * interval '1 millisecond'
        where login = any(${investorLogins}::text[]) and ${hasPosting} and ${ARE_BOOKS_WHOLE}
        returning login as "investorLogin", posting_number as number, posting_minor as amount, posting_generation as generation,
                  posting_tries as tries`,
  );
  return claimed;
}

/** Those of the Investors that have results that are not posted, or a posting that is not in the log of its account. */
export async function listUnposted(db: Queryable, investorLogins: readonly string[]): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login from investor_account as account where login = any(${investorLogins}::text[]) and ${hasPosting}`,
  );
}

/** Expression: when the next posting may be made or sent. */
export const nextPostingDue = fragment`(
  select posting_next_at from investor_account as account where ${mayPost} order by posting_next_at limit 1
)`;

/** A posting that waits for its next try, and why. */
export type Waiting = { readonly posting: Posting; readonly reason: string };

/** A busy account is retried soon: a result should reach the account within seconds. */
const AFTER_TRY = retryAt(fragment`posting_tries`, 1_000);

/**
 * Schedules the next tries. Without effect on a posting that has ended, or was claimed since. An account that another transaction has locked is left
 * out, because that one may wait for an account of these: its posting is tried again when its claim ends.
 */
export async function retryPostings(tx: Transaction, waiting: readonly Waiting[]): Promise<void> {
  const free = await column<string>(
    tx,
    sql`select login
        from investor_account
        where login = any(${waiting.map(({ posting }) => posting.investorLogin)}::text[])
        for no key update skip locked`,
  );
  const delays = waiting.flatMap(({ posting, reason }) =>
    free.includes(posting.investorLogin) ? { ...posting, reason } : [],
  );
  await execute(
    tx,
    sql`update investor_account
        set posting_next_at = ${AFTER_TRY}, posting_reason = delay.reason
        from ${unnest(delays)} as delay (investor_login text, number bigint, tries integer, reason text)
        where investor_account.login = delay.investor_login and posting_number = delay.number and posting_tries = delay.tries
          and posting_minor is not null`,
  );
}

const AFTER_REFUSAL = retryAt(fragment`posting_refusals + 1`);

/** The posting was certainly not executed: its amount goes into the next one, after a pause. */
export async function refusePosting(
  tx: Transaction,
  { investorLogin, number }: Posting,
  reason: string,
): Promise<void> {
  await execute(
    tx,
    sql`update investor_account
        set posting_minor = null, posting_generation = null, posting_tries = 0, posting_reason = ${reason},
            posting_refusals = posting_refusals + 1, posting_next_at = ${AFTER_REFUSAL}
        where login = ${investorLogin} and posting_number = ${number} and posting_minor is not null`,
  );
}

/** No posting of this service with this number was requested as platform has it. */
export async function disownPosting(
  tx: Transaction,
  { login, number }: { readonly login: string; readonly number: bigint },
): Promise<void> {
  await execute(
    tx,
    sql`update investor_account
        set unrequested_postings = array_append(unrequested_postings, ${number}::bigint)
        where login = ${login}`,
  );
}
