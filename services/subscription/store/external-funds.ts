import { column, execute, fragment, many, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { DealCause } from "#kernel/review/case-row.ts";
import { earnedSince } from "./repairs.ts";

/** Accounts of one run; the next run resets the others. */
const MAX_RESETS = 1_000;

/** External funds that need a review, without what is adopted by rule. Cents, signed. */
export type ExternalFunds = {
  readonly kind: "investor" | "master";
  readonly login: string;
  /** What operators decide about: on a Master without its results, or own capital when no movement is undecided. */
  readonly amount: bigint;
  /** Own capital of the Master, with its results; 0 for an Investor. */
  readonly ownCapital: bigint;
  /** Login of the Master of the pool. */
  readonly masterLogin: string;
  /** Sum of the negative pooled amounts of the Master's pool, as a positive number; 0 for an Investor. */
  readonly shortfall: bigint;
  /** Own capital is below zero, so money of Investors is lacking on the Master; false for an Investor. */
  readonly isLacking: boolean;
  /** What was moved was decided about before. */
  readonly isAcknowledged: boolean;
  /** Number of the last entry of the log that has moved money and is no trade of an Investor's own, and its ticket on a Master. */
  readonly movedNumber: bigint;
  readonly movedDealId: bigint;
  /** What of the amount operators have not decided about; 0 for an Investor. */
  readonly undecided: bigint;
  /** Number of the first entry that moved it. */
  readonly undecidedSince: bigint;
  /** Own capital is 0.00, because what it has earned since has made up for that: nothing is left to allocate. */
  readonly isMadeUp: boolean;
  /** Action, comment and day of the deals; undefined when the amount has several causes. */
  readonly cause: DealCause | undefined;
};

/** Ascending by login. */
export async function listOnInvestors(db: Queryable): Promise<ExternalFunds[]> {
  const rows = await many<ExternalFunds>(
    db,
    sql`select 'investor' as kind, account.login, quarantined_minor - to_adopt_minor as amount, holding.master_login as "masterLogin",
               0::bigint as "ownCapital", 0::bigint as shortfall, false as "isLacking", false as "isAcknowledged", false as "isMadeUp",
               moved_number as "movedNumber", 0::bigint as "movedDealId",
               0::bigint as undecided, 0::bigint as "undecidedSince",
               case when (cause ->> 'amount')::bigint = quarantined_minor - to_adopt_minor then cause end as cause
        from investor_account as account join holding on holding.subscription_id = account.pooled_subscription_id
        where is_unacknowledged and quarantined_minor - to_adopt_minor <> 0
        order by account.login`,
  );
  return rows.map(withoutNulls);
}

/** An Investor in the pool, or one who is leaving it, has money on the Master. */
const hasMoneyOfInvestors = fragment`exists (
  select from holding
  where holding.master_login = master_pool.login and waiting_minor + pooled_minor + reserved_minor + outbound_minor > 0
)`;

/**
 * Acknowledged own capital needs another review when it can cover the deficit of Investors below zero, and while it is below zero itself and
 * Investors have money on the Master: theirs is what it lacks.
 */
export async function listOnMasters(db: Queryable): Promise<ExternalFunds[]> {
  const rows = await many<ExternalFunds>(
    db,
    sql`with pool as (
          select login, external_minor, external_acknowledged_minor, external_since, external_number, external_deal_id,
                 external_minor - coalesce(external_acknowledged_minor, 0) as undecided,
                 external_minor is not distinct from external_acknowledged_minor as is_acknowledged,
                 cause,
                 own_waiting_minor + own_pooled_minor as own_minor,
                 case when own_waiting_minor + own_pooled_minor = 0 and coalesce(external_acknowledged_minor, 0) = 0
                   then external_minor + ${earnedSince} = 0 else false end as is_made_up,
                 (select coalesce(-sum(pooled_minor), 0)::bigint
                  from holding join subscription on subscription.id = holding.subscription_id
                  where subscription.master_login = login and subscription.status = 'ACTIVE' and pooled_minor < 0)
                 as shortfall,
                 own_waiting_minor + own_pooled_minor < 0 and ${hasMoneyOfInvestors} as is_lacking
          from master_pool
          where external_minor <> 0 or own_waiting_minor + own_pooled_minor <> 0
        )
        select 'master' as kind, login, case when undecided <> 0 then undecided else own_minor end as amount, login as "masterLogin",
               own_minor as "ownCapital", shortfall, is_lacking as "isLacking", is_acknowledged as "isAcknowledged", is_made_up as "isMadeUp",
               external_number as "movedNumber", external_deal_id as "movedDealId", undecided, external_since as "undecidedSince",
               case when undecided <> 0 and (cause ->> 'amount')::bigint = undecided then cause end as cause
        from pool
        where not is_acknowledged or (shortfall > 0 and own_minor >= shortfall) or is_lacking
        order by login`,
  );
  return rows.map(withoutNulls);
}

/** The caller has locked the account. */
export async function acknowledgeQuarantine(tx: Transaction, login: string): Promise<void> {
  await execute(
    tx,
    sql`update investor_account
        set quarantine_acknowledged_minor = quarantined_minor - to_adopt_minor, acknowledged_number = moved_number
        where login = ${login}`,
  );
}

/** The caller has locked the pool. */
export async function acknowledgeExternal(tx: Transaction, login: string, amount: bigint): Promise<void> {
  await execute(tx, sql`update master_pool set external_acknowledged_minor = ${amount} where login = ${login}`);
}

/** Resets the acknowledged amount when the money is gone: a later equal amount needs a review of its own. */
export async function resetAcknowledgedFunds(db: Queryable): Promise<void> {
  await execute(
    db,
    sql`update investor_account set quarantine_acknowledged_minor = 0
        where quarantined_minor - to_adopt_minor = 0 and login = any ((
          select array_agg(login)
          from (
            select login
            from investor_account
            where is_unacknowledged and quarantined_minor - to_adopt_minor = 0
            order by login
            limit ${MAX_RESETS}
          ) as gone
        )::text[])`,
  );
  await execute(
    db,
    sql`update master_pool set external_acknowledged_minor = null
        where external_acknowledged_minor is not null and external_minor = 0
          and own_waiting_minor + own_pooled_minor = 0`,
  );
}

/** Logins of Investors on which something is to be adopted by rule. */
export async function listToAdopt(db: Queryable): Promise<string[]> {
  return await column<string>(db, sql`select login from investor_account where to_adopt_minor <> 0 order by login`);
}

/**
 * Expression: an instant in the past while there are external funds, or a review of them that may have to close. In order, so that
 * the index of external funds is read, not the table.
 */
export const nextExternalReview = fragment`(
  select '-infinity'::timestamptz
  where (
       select login from investor_account where is_unacknowledged order by login limit 1
     ) is not null
     or (select login from investor_account where to_adopt_minor <> 0 order by login limit 1) is not null
     or exists (
       select from master_pool
       where external_minor <> 0 or external_acknowledged_minor is not null or own_waiting_minor + own_pooled_minor <> 0
     )
     or exists (
       select from review_case
       where state in ('OPEN', 'PROPOSED') and reason in ('external_funds_on_investor', 'external_funds_on_master')
     )
)`;
