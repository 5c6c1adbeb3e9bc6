import { execute, fragment, many, matchesRow, maybeOne, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { HoldingSums } from "../domain/pool/others.ts";
import { OWN_CAPITAL, type UnitHolding } from "../domain/pool/unit-pool.ts";
import { ARE_BOOKS_WHOLE } from "./settled-database.ts";

/** The facts about a Master that allocation and strike need besides its pool. */
export type Master = {
  readonly login: string;
  /** The database in which it was locked. */
  readonly database: string;
  readonly filedNumber: bigint;
  readonly filedDealId: bigint;
  readonly struckDealId: bigint;
  readonly stoppedReason: string | null;
  /** Undefined while no subscription is ACTIVE. */
  readonly weeksClosedThrough: Date | undefined;
  readonly lastAllocation: bigint;
  readonly isInDeficit: boolean;
  /** What was to be struck waits for a price. */
  readonly waitsForPrice: boolean;
  /** All open positions of the Master are in the books. */
  readonly arePositionsKnown: boolean;
  /** Its pool is valued from time to time, because positions are open. */
  readonly isValued: boolean;
  /** Log position up to which operators have accepted deals that would otherwise stop the Master. */
  readonly acceptedDealsNumber: bigint;
  /** Own capital: changes only under the lock of this row. */
  readonly own: UnitHolding;
  /** Of the holdings of its Investors; they too change only under the lock of this row. */
  readonly sums: HoldingSums;
};

type MasterRow = Omit<Master, "own" | "sums" | "weeksClosedThrough"> & {
  readonly weeksClosedThrough: Date | null;
} & Omit<UnitHolding, "subscriptionId"> & {
    readonly [Name in keyof HoldingSums as `sum${Capitalize<Name>}`]: bigint;
  };

/** In place of the reason of a stop while the books may lack results of a lost time. */
export const LACKS_RESULTS = "results that were posted before a restore may not be booked yet";

/**
 * Locks the pool row, which every change of the pool locks first. Undefined for an unknown Master. It reads as stopped while its books may lack
 * results, except by what books these.
 */
export async function lockMaster(
  tx: Transaction,
  login: string,
  { isSettling = false } = {},
): Promise<Master | undefined> {
  const row = await maybeOne<MasterRow>(
    tx,
    sql`select login, (select database_identity()) as database, filed_number as "filedNumber", filed_deal_id as "filedDealId", struck_deal_id as "struckDealId",
               case when ${isSettling} or ${ARE_BOOKS_WHOLE} then stopped_reason else ${LACKS_RESULTS} end as "stoppedReason",
               weeks_closed_through as "weeksClosedThrough", last_allocation as "lastAllocation",
               is_in_deficit as "isInDeficit", are_positions_known as "arePositionsKnown", value_next_at is not null as "isValued",
               accepted_deals_number as "acceptedDealsNumber", price_since is not null as "waitsForPrice", own_units as units, own_waiting_minor as waiting,
               own_pooled_minor as pooled, own_unredeemed_minor as unredeemed, own_carry_e8 as carry,
               holdings_units as "sumUnits", holdings_minor as "sumCash", holdings_carry_e8 as "sumCarry", unitless_minor as "sumUnitlessCash",
               unitless_carry_e8 as "sumUnitlessCarry", emptied_holdings as "sumEmptied"
        from master_pool
        where login = ${login}
        for no key update`,
  );
  if (row === undefined) return undefined;
  const { units, waiting, pooled, unredeemed, carry, weeksClosedThrough, ...rest } = row;
  const { sumUnits, sumCash, sumCarry, sumUnitlessCash, sumUnitlessCarry, sumEmptied, ...master } = rest;
  const own = { subscriptionId: OWN_CAPITAL, units, pooled, waiting, unredeemed, carry };
  const unitless = { unitlessCash: sumUnitlessCash, unitlessCarry: sumUnitlessCarry, emptied: sumEmptied };
  return {
    ...master,
    weeksClosedThrough: weeksClosedThrough ?? undefined,
    own,
    sums: { units: sumUnits, cash: sumCash, carry: sumCarry, ...unitless },
  };
}

type MasterProgress = Pick<
  Master,
  "login" | "struckDealId" | "weeksClosedThrough" | "lastAllocation" | "isInDeficit" | "arePositionsKnown"
>;

/** Whether `saveProgress` would change anything. */
export function hasProgress(before: Master, after: Master): boolean {
  return (
    before.struckDealId !== after.struckDealId ||
    before.weeksClosedThrough?.getTime() !== after.weeksClosedThrough?.getTime() ||
    before.lastAllocation !== after.lastAllocation ||
    before.isInDeficit !== after.isInDeficit ||
    before.arePositionsKnown !== after.arePositionsKnown
  );
}

export async function saveProgress(tx: Transaction, progress: MasterProgress): Promise<void> {
  const { login, struckDealId, weeksClosedThrough, lastAllocation } = progress;
  const { isInDeficit, arePositionsKnown } = progress;
  await execute(
    tx,
    sql`update master_pool
        set struck_deal_id = ${struckDealId}, weeks_closed_through = ${weeksClosedThrough}, last_allocation = ${lastAllocation},
            is_in_deficit = ${isInDeficit}, are_positions_known = ${arePositionsKnown}
        where login = ${login}`,
  );
}

/** False when the Master is stopped already: the first reason is kept. */
export async function stopMaster(tx: Transaction, login: string, reason: string): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update master_pool set stopped_reason = ${reason} where login = ${login} and stopped_reason is null`,
  );
}

/** The Master that each break names, or the Master in whose pool its account is; none when no pool is concerned. */
export async function listConcernedMasters(
  db: Queryable,
  breaks: readonly { readonly id: bigint; readonly login: string; readonly masterLogin: string }[],
): Promise<{ readonly id: bigint; readonly login: string }[]> {
  const accounts = breaks.map(({ id, login: account, masterLogin: master }) => ({ id, account, master }));
  return await many(
    db,
    sql`select id, coalesce(master_pool.login, holding.master_login) as login
        from ${unnest(accounts)} as break (id bigint, account text, master text)
             left join master_pool on master_pool.login = master
             left join investor_account on investor_account.login = account and master = ''
             left join holding on subscription_id = pooled_subscription_id
        where master_pool.login is not null or holding.master_login is not null`,
  );
}

/** Resumes a stopped Master. Deals up to this log position are accepted. */
export async function resumeMaster(tx: Transaction, login: string, acceptedDealsNumber: bigint): Promise<void> {
  await execute(
    tx,
    sql`update master_pool
        set stopped_reason = null, accepted_deals_number = ${acceptedDealsNumber}, mark_next_at = '-infinity'
        where login = ${login}`,
  );
}

/** Begins to close weeks, with the first ACTIVE Investor. The caller has locked the pool. */
export async function beginWeeks(tx: Transaction, login: string, closedThrough: Date): Promise<void> {
  await execute(
    tx,
    sql`update master_pool
        set weeks_closed_through = ${closedThrough}
        where login = ${login} and weeks_closed_through is null`,
  );
}

/** Stops closing weeks if no Investor is ACTIVE. The caller has locked the pool. */
export async function endWeeksIfEmpty(tx: Transaction, login: string): Promise<void> {
  await execute(
    tx,
    sql`update master_pool
        set weeks_closed_through = null
        where login = ${login}
          and not exists (select from subscription where master_login = ${login} and status = 'ACTIVE')`,
  );
}

/** Why new operations with a Master are refused now; undefined when they are not. */
export async function findSafetyStop(db: Queryable, login: string): Promise<"stopped" | "deficit" | undefined> {
  const row = await maybeOne<{ isStopped: boolean; isInDeficit: boolean }>(
    db,
    sql`select (stopped_reason is not null or not ${ARE_BOOKS_WHOLE}) as "isStopped", is_in_deficit as "isInDeficit"
        from master_pool
        where login = ${login}`,
  );
  if (row?.isStopped === true) return "stopped";
  return row?.isInDeficit === true ? "deficit" : undefined;
}

/** Flat by the books: no open position, and no deal that is still to be allocated. Of rows that are named `wanted`. A Master without a pool is. */
export const IS_FLAT = fragment`
  not exists (select from pool_position where master_login = wanted.login)
  and not exists (select from master_result where master_login = wanted.login and allocated_at is null)`;

/** A break of a check. */
type FoundBreak = {
  readonly check: string;
  readonly login: string;
  readonly dealIds: readonly bigint[];
  readonly openedAt: Date | undefined;
};

/**
 * Whether operators have decided a stop of the Master that was about the same: about the deal, which the log has before a check compares it,
 * or about the balance of an account that equalled its log after the break was opened.
 */
export async function isStopDecided(
  tx: Transaction,
  master: string,
  { check, login, dealIds, openedAt }: FoundBreak,
): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`select id
        from review_case
        where login = ${master} and reason = 'stopped' and state = 'DECIDED'
          and (${check} = 'deal_matching' and deal_id = any (${dealIds}::bigint[])
               or ${check} = 'platform_balance' and ${login} in (login, evidence ->> 'account')
                  and confirmed_at > ${openedAt}::timestamptz)
        limit 1`,
  );
}
