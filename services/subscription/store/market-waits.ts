import { MINUTE_MS, SECOND_MS } from "#kernel/values/duration.ts";
import {
  column,
  execute,
  fragment,
  many,
  matchesRow,
  maybeOne,
  one,
  type Queryable,
  sql,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { retryAt } from "#kernel/work-queue/work-queue.ts";
import { isHeldInflow } from "./flows.ts";

/** The first pause is 8 s. The longest: prices may free margin without a deal. */
const MAX_PAUSE_MS = 15 * MINUTE_MS;
const AFTER_REFUSAL = retryAt(fragment`margin_refusals + 6`, MAX_PAUSE_MS);
/** A deal may free margin at once, but a Master that trades all day without it is not asked with each deal. */
const MAX_PAUSE_AFTER_DEAL_MS = MINUTE_MS;
const AFTER_DEAL = retryAt(fragment`margin_refusals + 2`, MAX_PAUSE_AFTER_DEAL_MS);

/**
 * The Master has too little free margin for money that is to leave it: that money waits, and nothing else. Undefined when it has no open
 * position, because then margin is not the reason.
 */
export async function waitForMargin(
  tx: Transaction,
  masterLogin: string,
  at: Date,
): Promise<{ readonly hasBegun: boolean } | undefined> {
  return await maybeOne<{ hasBegun: boolean }>(
    tx,
    sql`update master_pool
        set margin_refusals = margin_refusals + 1, margin_since = coalesce(margin_since, ${at}), margin_next_at = ${AFTER_REFUSAL}
        where login = ${masterLogin}
          and (not are_positions_known or exists (select from pool_position where master_login = ${masterLogin}))
        returning margin_refusals = 1 as "hasBegun"`,
  );
}

/** After deals of Masters: what waits for their free margin is tried soon, what waits for a price now. True when a Master has a wait. */
export async function retryAfterDeals(tx: Transaction, masterLogins: readonly string[]): Promise<boolean> {
  if (masterLogins.length === 0) return false;
  const waiting = await column<string>(
    tx,
    sql`update master_pool
        set margin_next_at = least(margin_next_at, ${AFTER_DEAL}), price_next_at = '-infinity'
        where login = any(${masterLogins}::text[]) and (margin_since is not null or price_since is not null)
        returning login`,
  );
  if (waiting.length > 0) await tryExitsSooner(tx, waiting);
  return waiting.length > 0;
}

/** Ends the wait of Masters from which money was taken, or from which none is to be taken any more. */
export async function endMarginWait(tx: Transaction, masterLogins: readonly string[]): Promise<void> {
  if (masterLogins.length === 0) return;
  const ended = await column<string>(
    tx,
    sql`update master_pool
        set margin_refusals = 0, margin_since = null, margin_next_at = '-infinity'
        where login = any(${masterLogins}::text[]) and margin_since is not null
        returning login`,
  );
  if (ended.length > 0) await tryExitsSooner(tx, ended);
}

async function tryExitsSooner(tx: Transaction, masterLogins: readonly string[]): Promise<void> {
  await execute(
    tx,
    sql`update exit_transfer
        set next_try_at = least(next_try_at, greatest(margin_next_at, clock_timestamp()))
        from master_pool
        where exit_transfer.master_login = login and login = any(${masterLogins}::text[])
          and exit_transfer.state = 'OPEN' and exit_transfer.refusals > 0`,
  );
}

/** How often it is looked whether the first price has come. */
const PRICE_PAUSE_MS = 15 * SECOND_MS;

/** The last price of an open position is too old to be a mark: what would be struck waits for the next one. */
export async function waitForPrice(tx: Transaction, masterLogin: string, reason: string, at: Date): Promise<void> {
  await execute(
    tx,
    sql`update master_pool
        set price_since = coalesce(price_since, ${at}), price_reason = ${reason},
            price_next_at = clock_timestamp() + ${PRICE_PAUSE_MS} * interval '1 millisecond'
        where login = ${masterLogin}`,
  );
}

export async function endPriceWait(tx: Transaction, masterLogin: string): Promise<void> {
  await execute(
    tx,
    sql`update master_pool
        set price_since = null, price_reason = null, price_next_at = '-infinity'
        where login = ${masterLogin} and price_since is not null`,
  );
}

/** How often platform is asked whether an archived account is shown again: an answer out of one of its tables. */
const ARCHIVED_PAUSE_MS = 15 * SECOND_MS;

/** Accounts of Masters that the broker has archived: inflows stay on the accounts of their Investors until platform, which is asked later, shows them again. */
export async function waitForArchived(db: Queryable, masterLogins: readonly string[]): Promise<void> {
  await execute(
    db,
    sql`update master_pool
        set archived_next_at = clock_timestamp() + ${ARCHIVED_PAUSE_MS} * interval '1 millisecond'
        where login = any(${masterLogins}::text[])`,
  );
}

/** Masters of which it is to be asked now, whether their accounts are shown again. */
export async function listArchivedToAsk(db: Queryable, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login from master_pool where archived_next_at <= clock_timestamp() order by archived_next_at limit ${limit}`,
  );
}

/** The account is shown again: its inflows are mirrored. False when another replica has noted it. */
export async function endArchived(db: Queryable, masterLogin: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update master_pool set archived_next_at = null where login = ${masterLogin} and archived_next_at is not null`,
  );
}

/** Expression: when the next Master is due. */
export const NEXT_ARCHIVED = fragment`(select min(archived_next_at) from master_pool where archived_next_at is not null)`;

/** Money of a Master that waits for the market, for its account or its payment account, or for the end of a deficit; the amounts are positive. */
export type MarketWait = {
  readonly since: Date;
  readonly amount: bigint;
} & (
  | { readonly kind: "free_margin"; readonly nextAt: Date }
  | { readonly kind: "old_price"; readonly prices: string }
  | { readonly kind: "master_not_shown" | "pool_deficit" }
  | { readonly kind: "payment_account_archived"; readonly paymentAccountLogin: string }
);

/** `joining`: why inflows wait: all of them when the trading platform does not show the account of the Master, else those that a deficit holds. */
export async function listMarketWaits(
  db: Queryable,
  masterLogin: string,
  joining: "master_not_shown" | "pool_deficit",
): Promise<MarketWait[]> {
  return await many<MarketWait>(
    db,
    sql`with held as (
          select coalesce(sum(outbound_minor), 0)::bigint as outbound,
                 coalesce(sum(waiting_minor + unredeemed_minor), 0)::bigint as unstruck
          from holding
          where master_login = ${masterLogin}
        ), unmirrored as (
          select id, subscription_id, master_login, amount_minor, created_at
          from flow
          where master_login = ${masterLogin} and mirror_id is null
          union all
          select flow.id, flow.subscription_id, flow.master_login, flow.amount_minor, flow.created_at
          from mirror join flow on flow.mirror_id = mirror.id
          where mirror.master_login = ${masterLogin} and mirror.state = 'OPEN'
        ), wait as (
          select 'free_margin' as kind, margin_since as since, held.outbound as amount, null as prices,
                 coalesce(nullif(margin_next_at, '-infinity'), margin_since) as "nextAt"
          from master_pool cross join held
          where login = ${masterLogin}
          union all
          select 'old_price', price_since, held.unstruck + own_waiting_minor + own_unredeemed_minor, coalesce(price_reason, ''), null
          from master_pool cross join held
          where login = ${masterLogin}
          union all
          select ${joining}, min(flow.created_at), coalesce(sum(flow.amount_minor), 0)::bigint, null, null
          from unmirrored as flow
               join holding on holding.subscription_id = flow.subscription_id
               join master_pool as pool on pool.login = flow.master_login
          where flow.amount_minor > 0 and (${joining} = 'master_not_shown' or ${isHeldInflow})
        )
        select kind, since, amount, prices, "nextAt" from wait where since is not null and amount > 0`,
  );
}

/** Number of Masters with money that waits for the market, by what it waits for, and of those whose pool is in deficit. */
export async function countMarketWaits(
  db: Queryable,
): Promise<Readonly<Record<"free_margin" | "old_price" | "pool_deficit", number>>> {
  const { margin, price, deficit } = await one<Readonly<Record<"margin" | "price" | "deficit", number>>>(
    db,
    sql`select count(*) filter (where margin_since is not null)::int as margin,
               count(*) filter (where price_since is not null)::int as price,
               count(*) filter (where is_in_deficit)::int as deficit
        from master_pool
        where margin_since is not null or price_since is not null or is_in_deficit`,
  );
  return { free_margin: margin, old_price: price, pool_deficit: deficit };
}
