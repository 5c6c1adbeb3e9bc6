import assert from "node:assert/strict";
import { fragment, many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { PoolState } from "../domain/advance-pool.ts";
import type { HoldingChange } from "../domain/buckets.ts";
import type { PoolSums } from "../domain/holding-value.ts";
import { isOthers, subtractSums, sumHoldings, withOthers } from "../domain/pool/others.ts";
import { OWN_CAPITAL, type UnitHolding, type UnitPool } from "../domain/pool/unit-pool.ts";
import { allHoldings } from "../domain/pool/units.ts";
import { listArrivals } from "./arrivals.ts";
import { changeHoldings } from "./holdings.ts";
import type { Master } from "./masters.ts";
import { readMarks, saveAccruals, savePositions } from "./pool-marks.ts";

export type ActiveHolding = {
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  readonly startedAt: Date;
};

/** The ACTIVE subscriptions of a pool. They change only under the lock of the pool, which the caller has. */
export async function listActiveHoldings(tx: Transaction, masterLogin: string): Promise<ActiveHolding[]> {
  return many<ActiveHolding>(
    tx,
    sql`select id as "subscriptionId", investor_login as "investorLogin", started_at as "startedAt"
        from subscription
        where master_login = ${masterLogin} and status = 'ACTIVE'
        order by id`,
  );
}

/**
 * The pool of a Master that this transaction has locked; so are the accounts of the Investors who get a part of a result. With `subscriptionIds`,
 * of a flat pool, whose next change is a strike of its flows, only the holdings with flows and these ones, and the others in sum: the strike
 * throws WholePoolNeeded when it concerns them too.
 */
export async function lockUnitPool(
  tx: Transaction,
  { login, own, sums }: Master,
  subscriptionIds?: readonly bigint[],
): Promise<UnitPool> {
  const marks = await readMarks(tx, login);
  const isPart = subscriptionIds !== undefined && marks.positions.length === 0;
  const part = isPart ? withOthers(await lockWithFlows(tx, login, subscriptionIds), sums) : undefined;
  return { holdings: part ?? (await readUnitHoldings(tx, login)), own, ...marks };
}

/** As `lockUnitPool`. */
export async function lockPoolState(
  tx: Transaction,
  master: Master,
  subscriptionIds?: readonly bigint[],
): Promise<PoolState> {
  const { login, struckDealId, weeksClosedThrough } = master;
  const pool = await lockUnitPool(tx, master, subscriptionIds);
  const waiting = allHoldings(pool).filter((holding) => holding.waiting > 0n || holding.unredeemed > 0n);
  const arrivals = await listArrivals(
    tx,
    login,
    waiting.map(({ subscriptionId }) => subscriptionId),
  );
  return { pool, arrivals, struckDealId, weeksClosedThrough };
}

const UNIT_HOLDING = fragment`holding.subscription_id as "subscriptionId", holding.units, holding.pooled_minor as pooled,
  holding.waiting_minor as waiting, holding.unredeemed_minor as unredeemed, holding.carry_e8 as carry`;

/**
 * The holdings of a pool. Units and carry change only under the lock of the pool, which the caller has; money also
 * changes under the lock of the Investor's account. So only holdings with flows to strike are locked. Flows that other
 * holdings get after that are left to the next strike: an outflow counts as if it were still in the pool, which has the
 * same value.
 */
export async function readUnitHoldings(tx: Transaction, masterLogin: string): Promise<UnitHolding[]> {
  const rows = await many<UnitHolding & { readonly isLocked: boolean }>(
    tx,
    sql`with to_strike as (
          select ${UNIT_HOLDING}
          from holding join subscription on subscription.id = holding.subscription_id
          where holding.master_login = ${masterLogin} and (waiting_minor > 0 or unredeemed_minor > 0)
            and subscription.status = 'ACTIVE'
          order by holding.subscription_id
          for no key update of holding
        )
        select to_strike.*, true as "isLocked" from to_strike
        union all
        select ${UNIT_HOLDING}, false
        from holding join subscription on subscription.id = holding.subscription_id
        where holding.master_login = ${masterLogin} and subscription.status = 'ACTIVE'
          and holding.subscription_id not in (select "subscriptionId" from to_strike)
        order by "subscriptionId"`,
  );
  return rows.map(({ isLocked, ...holding }) => (isLocked ? holding : withoutFlows(holding)));
}

/**
 * Locks those holdings of a pool that have flows to strike, and these ones. The caller has locked the pool. They are found one condition at a
 * time, and by their ids: for a choice of conditions, and to join them, Postgres reads the whole pool.
 */
async function lockWithFlows(
  tx: Transaction,
  masterLogin: string,
  subscriptionIds: readonly bigint[],
): Promise<UnitHolding[]> {
  return await many<UnitHolding>(
    tx,
    sql`select ${UNIT_HOLDING}
        from holding
        where subscription_id = any(array(
                select waiting.subscription_id
                from holding as waiting
                where waiting.master_login = ${masterLogin} and waiting.waiting_minor > 0
                union all
                select leaving.subscription_id
                from holding as leaving
                where leaving.master_login = ${masterLogin} and leaving.unredeemed_minor > 0
                union all
                select id from unnest(${subscriptionIds}::bigint[]) as wanted (id)
              ))
          and (select status from subscription where id = holding.subscription_id) = 'ACTIVE'
        order by subscription_id
        for no key update`,
  );
}

/** The sums over all holdings of a pool, own capital included. */
export async function getPoolSums(db: Queryable, masterLogin: string): Promise<PoolSums> {
  return await one<PoolSums>(
    db,
    sql`select holdings_units + own_units as units,
               holdings_minor + case when own_units > 0 then own_pooled_minor + own_unredeemed_minor else 0 end as cash,
               holdings_carry_e8 + case when own_units > 0 then own_carry_e8 else 0 end as carry,
               (select coalesce(sum(basis), 0)
                from accrual
                where master_login = ${masterLogin} and case subscription_id
                  when ${OWN_CAPITAL} then own_units = 0
                  else (select units from holding where holding.subscription_id = accrual.subscription_id) = 0
                end) as "basisWithoutUnits"
        from master_pool
        where login = ${masterLogin}`,
  );
}

function withoutFlows(holding: UnitHolding): UnitHolding {
  return { ...holding, pooled: holding.pooled + holding.unredeemed, waiting: 0n, unredeemed: 0n };
}

type PoolChange = {
  /** As it was locked. */
  readonly before: UnitPool;
  readonly after: UnitPool;
  /** What changes of its holdings besides. */
  readonly besides?: readonly HoldingChange[];
};

/** Writes only what has changed. */
export async function saveUnitPool(
  tx: Transaction,
  masterLogin: string,
  { before, after, besides = [] }: PoolChange,
): Promise<void> {
  const changes = [...changesOf(before.holdings, after.holdings), ...besides];
  if (changes.length > 0 || !isSame(before.own, after.own)) {
    const sums = subtractSums(sumHoldings(after.holdings), sumHoldings(before.holdings));
    await changeHoldings(tx, changes, { masterLogin, sums, own: after.own });
  }
  await savePositions(tx, masterLogin, before, after);
  await saveAccruals(tx, masterLogin, before, after);
}

function changesOf(before: readonly UnitHolding[], after: readonly UnitHolding[]): HoldingChange[] {
  const now = new Map(after.map((holding) => [holding.subscriptionId, holding]));
  return before.flatMap((old) => {
    const { subscriptionId } = old;
    // Without one, its Investor has left the pool.
    const { units = 0n, pooled = 0n, waiting = 0n, unredeemed = 0n, carry = 0n } = now.get(subscriptionId) ?? {};
    const holding = { subscriptionId, units, pooled, waiting, unredeemed, carry };
    if (isSame(old, holding)) return [];
    assert(!isOthers(old), "a part of a pool changes only the holdings that it has");
    return [
      {
        subscriptionId,
        units: units - old.units,
        pooled: pooled - old.pooled,
        waiting: waiting - old.waiting,
        unredeemed: unredeemed - old.unredeemed,
        carry: carry - old.carry,
      },
    ];
  });
}

function isSame(left: UnitHolding, right: UnitHolding): boolean {
  return (
    left === right ||
    (left.units === right.units &&
      left.pooled === right.pooled &&
      left.waiting === right.waiting &&
      left.unredeemed === right.unredeemed &&
      left.carry === right.carry)
  );
}
