import { many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { PoolSums } from "../domain/holding-value.ts";
import type { MasterDeal } from "../domain/master-deal.ts";
import { type Accrual, OWN_CAPITAL, type PoolPosition, type UnitHolding } from "../domain/pool/unit-pool.ts";
import { toAccrual, toPosition, type AccrualRow, type PositionRow } from "./pool-marks.ts";

/** The account of an Investor as it is filed, in cents. */
export type FiledAccount = {
  readonly filedNumber: bigint;
  readonly outside: bigint;
  readonly unposted: bigint;
  readonly quarantined: bigint;
  /** Null outside a pool. */
  readonly pooledIn: bigint | null;
};

export async function findFiledAccount(db: Queryable, login: string): Promise<FiledAccount | undefined> {
  return maybeOne<FiledAccount>(
    db,
    sql`select filed_number as "filedNumber", outside_minor as outside, unposted_minor as unposted,
               quarantined_minor as quarantined, pooled_subscription_id as "pooledIn"
        from investor_account
        where login = ${login}`,
  );
}

/** A holding with its Master, as they are booked. */
export type BookedHolding = {
  readonly masterLogin: string;
  readonly holding: UnitHolding;
  readonly isStopped: boolean;
  /** Without a position in the books. */
  readonly isFlat: boolean;
  /** Money that is on its way to the Master. */
  readonly inbound: bigint;
  readonly filedNumber: bigint;
  readonly lastAllocation: bigint;
};

type BookedRow = Omit<BookedHolding, "holding"> & Omit<UnitHolding, "units"> & { readonly units: string };

export async function getBookedHolding(db: Queryable, subscriptionId: bigint): Promise<BookedHolding> {
  const [row] = await many<BookedRow>(
    db,
    sql`select subscription_id as "subscriptionId", units, pooled_minor as pooled, waiting_minor as waiting,
               unredeemed_minor as unredeemed, carry_e8 as carry, inbound_minor as inbound,
               master_login as "masterLogin", stopped_reason is not null as "isStopped",
               not exists (select from pool_position where master_login = pool.login) as "isFlat", filed_number as "filedNumber", last_allocation as "lastAllocation"
        from holding join master_pool as pool on pool.login = holding.master_login
        where subscription_id = ${subscriptionId}`,
  );
  if (row === undefined) throw new Error(`Subscription ${subscriptionId} has no holding.`);
  const { units, pooled, waiting, unredeemed, carry, subscriptionId: id, ...books } = row;
  const holding = { subscriptionId: id, units: BigInt(units), pooled, waiting, unredeemed, carry };
  return { ...books, holding };
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
