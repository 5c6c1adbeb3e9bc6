import { many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { HoldingBuckets } from "../domain/buckets.ts";
import type { PoolSums } from "../domain/holding-value.ts";
import type { MasterDeal } from "../domain/master-deal.ts";
import { type Accrual, OWN_CAPITAL, type PoolPosition, type UnitHolding } from "../domain/pool/unit-pool.ts";
import { toAccrual, toPosition, type AccrualRow, type PositionRow } from "./pool-marks.ts";
import { ARE_BOOKS_WHOLE } from "./settled-database.ts";

/** The books of one Investor and of the pool that it is in, read without a lock. Amounts in cents. */
export type InvestorBooks = {
  readonly filedNumber: bigint;
  readonly unposted: bigint;
  readonly quarantined: bigint;
  /** Undefined outside a pool. */
  readonly holding: BookedHolding | undefined;
};

export type BookedHolding = UnitHolding &
  HoldingBuckets & {
    readonly masterLogin: string;
    readonly isStopped: boolean;
    /** Without a position in the books. */
    readonly isFlat: boolean;
    /** Log position up to which the log of the Master is filed. */
    readonly masterNumber: bigint;
    /** Filed deals wait for their allocation. */
    readonly hasWaitingDeals: boolean;
    readonly weeksClosedThrough: Date | null;
    readonly lastAllocation: bigint;
  };

type Row = Omit<InvestorBooks, "holding"> &
  Omit<BookedHolding, "units" | "masterLogin"> & { readonly units: string; readonly masterLogin: string | null };

/** Undefined for an account of which nothing is filed. */
export async function findInvestorBooks(db: Queryable, investorLogin: string): Promise<InvestorBooks | undefined> {
  const row = await maybeOne<Row>(
    db,
    sql`select account.filed_number as "filedNumber", account.unposted_minor as unposted,
               account.quarantined_minor as quarantined, holding.master_login as "masterLogin", holding.subscription_id as "subscriptionId",
               holding.inbound_minor as inbound, holding.waiting_minor as waiting, holding.pooled_minor as pooled,
               holding.reserved_minor as reserved, holding.outbound_minor as outbound, holding.unredeemed_minor as unredeemed,
               holding.units, holding.carry_e8 as carry, (pool.stopped_reason is not null or not ${ARE_BOOKS_WHOLE}) as "isStopped",
               not exists (select from pool_position where pool_position.master_login = pool.login) as "isFlat",
               pool.filed_number as "masterNumber",
               exists (
                 select from master_result where master_result.master_login = pool.login and allocated_at is null
               ) as "hasWaitingDeals",
               pool.weeks_closed_through as "weeksClosedThrough", pool.last_allocation as "lastAllocation"
        from investor_account as account
             left join holding on holding.subscription_id = account.pooled_subscription_id
             left join master_pool as pool on pool.login = holding.master_login
        where account.login = ${investorLogin}`,
  );
  if (row === undefined) return undefined;
  const { filedNumber, unposted, quarantined, masterLogin, units, ...holding } = row;
  const account = { filedNumber, unposted, quarantined };
  if (masterLogin === null) return { ...account, holding: undefined };
  return { ...account, holding: { ...holding, masterLogin, units: BigInt(units) } };
}

/** The sums over all holdings of a pool, own capital included. */
export async function getPoolSums(db: Queryable, masterLogin: string): Promise<PoolSums> {
  const [row] = await many<Readonly<Record<"units" | "cash" | "carry" | "basis", string>>>(
    db,
    sql`select (holdings_units + own_units)::text as units,
               (holdings_minor + case when own_units > 0 then own_pooled_minor + own_unredeemed_minor else 0 end)::text as cash,
               (holdings_carry_e8 + case when own_units > 0 then own_carry_e8 else 0 end)::text as carry,
               (select coalesce(sum(basis), 0)
                from accrual
                where master_login = ${masterLogin} and case subscription_id
                  when ${OWN_CAPITAL} then own_units = 0
                  else (select units from holding where holding.subscription_id = accrual.subscription_id) = 0
                end)::text as basis
        from master_pool
        where login = ${masterLogin}`,
  );
  const { units = "0", cash = "0", carry = "0", basis = "0" } = row ?? {};
  return { units: BigInt(units), cash: BigInt(cash), carry: BigInt(carry), basisWithoutUnits: BigInt(basis) };
}

/** The open positions of a pool, and what of their results is attributed to one holding by amount. */
export async function listMarksOf(
  db: Queryable,
  masterLogin: string,
  subscriptionId: bigint,
): Promise<{ readonly positions: readonly PoolPosition[]; readonly accruals: readonly Accrual[] }> {
  const positions = await many<PositionRow>(
    db,
    sql`select position_id as "positionId", symbol, volume, mark, per_unit as "perUnit", valued
        from pool_position
        where master_login = ${masterLogin}
        order by position_id`,
  );
  const accruals = await many<AccrualRow>(
    db,
    sql`select position_id as "positionId", subscription_id as "subscriptionId", basis, per_unit as "perUnit"
        from accrual
        where master_login = ${masterLogin} and subscription_id = ${subscriptionId}
        order by position_id`,
  );
  return { positions: positions.map(toPosition), accruals: accruals.map(toAccrual) };
}

/** Of the deals that are filed and not allocated, what says how much of a floating result they have realised; one more than the limit. */
export async function listUnallocated(db: Queryable, masterLogin: string, limit: number): Promise<MasterDeal[]> {
  return many<MasterDeal>(
    db,
    sql`select master_login as "masterLogin", number, entry_id as "entryId", deal_id as "dealId", deal_at as "dealAt",
               amount_minor as amount, action, entry, position_id as "positionId", symbol, volume,
               volume_closed as "volumeClosed", profit_minor as profit, swap_minor as swap,
               commission_minor as commission, fee_minor as fee
        from master_result
        where master_login = ${masterLogin} and allocated_at is null
        order by number
        limit ${limit + 1}`,
  );
}

/** The last deal that is allocated; those that are not follow it. */
export async function findAllocatedDeal(
  db: Queryable,
  masterLogin: string,
): Promise<Pick<MasterDeal, "dealId" | "dealAt"> | undefined> {
  return maybeOne<Pick<MasterDeal, "dealId" | "dealAt">>(
    db,
    sql`select deal_id as "dealId", deal_at as "dealAt"
        from master_result
        where master_login = ${masterLogin} and allocated_at is not null
        order by number desc
        limit 1`,
  );
}
