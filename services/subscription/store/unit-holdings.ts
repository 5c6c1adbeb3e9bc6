import assert from "node:assert/strict";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { isOthers, subtractSums, sumHoldings } from "../domain/pool/others.ts";
import type { UnitHolding } from "../domain/pool/unit-pool.ts";

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

type HoldingRow = Omit<UnitHolding, "units"> & { readonly units: string };

/**
 * The holdings of a pool. Units and carry change only under the lock of the pool, which the caller has; money also
 * changes under the lock of the Investor's account. So only holdings with flows to strike are locked. Flows that other
 * holdings get after that are left to the next strike: an outflow counts as if it were still in the pool, which has the
 * same value.
 */
export async function readUnitHoldings(tx: Transaction, masterLogin: string): Promise<UnitHolding[]> {
  const rows = await many<HoldingRow & { readonly isLocked: boolean }>(
    tx,
    sql`with to_strike as (
          select holding.subscription_id, units, pooled_minor, waiting_minor, unredeemed_minor, carry_e8
          from holding join subscription on subscription.id = holding.subscription_id
          where holding.master_login = ${masterLogin} and (waiting_minor > 0 or unredeemed_minor > 0)
            and subscription.status = 'ACTIVE'
          order by holding.subscription_id
          for no key update of holding
        )
        select subscription_id as "subscriptionId", units, pooled_minor as pooled, waiting_minor as waiting,
               unredeemed_minor as unredeemed, carry_e8 as carry, true as "isLocked"
        from to_strike
        union all
        select holding.subscription_id, units, pooled_minor, waiting_minor, unredeemed_minor, carry_e8, false
        from holding join subscription on subscription.id = holding.subscription_id
        where holding.master_login = ${masterLogin} and subscription.status = 'ACTIVE'
          and holding.subscription_id not in (select subscription_id from to_strike)
        order by "subscriptionId"`,
  );
  return rows.map(({ isLocked, ...row }) => {
    const holding = { ...row, units: BigInt(row.units) };
    return isLocked ? holding : withoutFlows(holding);
  });
}

/**
 * Locks those holdings of a pool that have flows to strike, and these ones. The caller has locked the pool. They are found one condition at a
 * time, and by their ids: for a choice of conditions, and to join them, Postgres reads the whole pool.
 */
export async function lockHoldingsWithFlows(
  tx: Transaction,
  masterLogin: string,
  subscriptionIds: readonly bigint[],
): Promise<UnitHolding[]> {
  const rows = await many<HoldingRow>(
    tx,
    sql`select subscription_id as "subscriptionId", units, pooled_minor as pooled, waiting_minor as waiting,
               unredeemed_minor as unredeemed, carry_e8 as carry
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
  return rows.map((row) => ({ ...row, units: BigInt(row.units) }));
}

function withoutFlows(holding: UnitHolding): UnitHolding {
  return { ...holding, pooled: holding.pooled + holding.unredeemed, waiting: 0n, unredeemed: 0n };
}

/** Adds the changes of amounts, so that money that came to a holding since it was read is kept, and those of the sums of the pool. */
export async function changeHoldings(
  tx: Transaction,
  masterLogin: string,
  before: readonly UnitHolding[],
  after: readonly UnitHolding[],
): Promise<void> {
  const changes = changesOf(before, after);
  if (changes.length === 0) return;
  const sums = subtractSums(sumHoldings(after), sumHoldings(before));
  await execute(
    tx,
    sql`with locked as (
          select subscription_id
          from holding
          where subscription_id = any(${changes.map(({ subscriptionId }) => subscriptionId)}::bigint[])
          order by subscription_id
          for no key update
        ), summed as (
          update master_pool
          set holdings_units = holdings_units + ${sums.units}::numeric, holdings_minor = holdings_minor + ${sums.cash}::bigint,
              holdings_carry_e8 = holdings_carry_e8 + ${sums.carry}::bigint, unitless_minor = unitless_minor + ${sums.unitlessCash}::bigint,
              unitless_carry_e8 = unitless_carry_e8 + ${sums.unitlessCarry}::bigint, emptied_holdings = emptied_holdings + ${sums.emptied}::bigint
          where login = ${masterLogin}
        )
        update holding
        set units = book.units, carry_e8 = book.carry, pooled_minor = pooled_minor + book.pooled,
            waiting_minor = waiting_minor + book.waiting, unredeemed_minor = unredeemed_minor + book.unredeemed
        from unnest(
          ${changes.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${changes.map(({ units }) => units)}::numeric[],
          ${changes.map(({ carry }) => carry)}::bigint[],
          ${changes.map(({ pooled }) => pooled)}::bigint[],
          ${changes.map(({ waiting }) => waiting)}::bigint[],
          ${changes.map(({ unredeemed }) => unredeemed)}::bigint[]
        ) as book (subscription_id, units, carry, pooled, waiting, unredeemed)
             join locked on locked.subscription_id = book.subscription_id
        where holding.subscription_id = book.subscription_id`,
  );
}

/** Writes own capital if it has changed. The caller has locked the pool. */
export async function saveOwnCapital(
  tx: Transaction,
  masterLogin: string,
  before: UnitHolding,
  after: UnitHolding,
): Promise<void> {
  const { units, pooled, waiting, unredeemed, carry } = after;
  const isSame =
    units === before.units &&
    pooled === before.pooled &&
    waiting === before.waiting &&
    unredeemed === before.unredeemed &&
    carry === before.carry;
  if (isSame) return;
  await execute(
    tx,
    sql`update master_pool
        set own_units = ${units}::numeric, own_pooled_minor = ${pooled}, own_waiting_minor = ${waiting},
            own_unredeemed_minor = ${unredeemed}, own_carry_e8 = ${carry}
        where login = ${masterLogin}`,
  );
}

/** The changed holdings: units and carry as new values, amounts as differences. */
function changesOf(before: readonly UnitHolding[], after: readonly UnitHolding[]): UnitHolding[] {
  const now = new Map(after.map((holding) => [holding.subscriptionId, holding]));
  return before.flatMap((old) => {
    const holding = now.get(old.subscriptionId) ?? emptied(old);
    const pooled = holding.pooled - old.pooled;
    const waiting = holding.waiting - old.waiting;
    const unredeemed = holding.unredeemed - old.unredeemed;
    const isSame = holding.units === old.units && holding.carry === old.carry;
    if (isSame && pooled === 0n && waiting === 0n && unredeemed === 0n) return [];
    assert(!isOthers(old), "a part of a pool changes only the holdings that it has");
    return [{ ...holding, pooled, waiting, unredeemed }];
  });
}

/** A holding whose Investor has left the pool. */
function emptied(holding: UnitHolding): UnitHolding {
  return { ...holding, units: 0n, pooled: 0n, waiting: 0n, unredeemed: 0n, carry: 0n };
}
