import { expectWhole } from "./others.ts";
import { allHoldings, indexOfHolding, indexOfLargestUnits, withHoldings } from "./units.ts";
import { type E8, OWN_CAPITAL, PoolBroken, type UnitHolding, type UnitPool } from "./unit-pool.ts";
import { checkPool } from "./check-pool.ts";
import { strikeFlatPool } from "./strike-pool.ts";

/** Takes cents out of P now; their units are redeemed at the next possible strike. */
export function takeOut(pool: UnitPool, subscriptionId: bigint, amount: bigint): UnitPool {
  if (amount < 0n) throw new PoolBroken("A negative amount cannot be taken out of a pool.");
  if (subscriptionId === OWN_CAPITAL) return { ...pool, own: withoutCents(pool.own, amount) };
  const { index, holding } = holdingOf(pool, subscriptionId);
  return { ...pool, holdings: pool.holdings.with(index, withoutCents(holding, amount)) };
}

function withoutCents(holding: UnitHolding, amount: bigint): UnitHolding {
  return { ...holding, pooled: holding.pooled - amount, unredeemed: holding.unredeemed + amount };
}

/**
 * Removes the units of an Investor who has left the pool. Its carry, less than a cent, goes to the holding with most
 * units, or to own capital when none has units. Only for a flat Master, because an accrual cannot change its owner.
 */
export function leaveUnits(pool: UnitPool, subscriptionId: bigint): UnitPool {
  if (pool.positions.length > 0) throw new PoolBroken("An Investor cannot leave a pool with open positions.");
  const { index, holding } = holdingOf(pool, subscriptionId);
  const empty = { ...holding, units: 0n, unredeemed: 0n, carry: 0n };
  const hasMoney = holding.pooled !== 0n || holding.waiting !== 0n;
  const holdings = hasMoney ? pool.holdings.with(index, empty) : pool.holdings.toSpliced(index, 1);
  return inherit({ ...pool, holdings }, holding.carry);
}

function inherit(pool: UnitPool, carry: E8): UnitPool {
  if (carry === 0n) return pool;
  const all = allHoldings(pool);
  expectWhole(all);
  const index = indexOfLargestUnits(all) ?? all.length - 1;
  return withHoldings(
    pool,
    all.map((holding, at) => (at === index ? { ...holding, carry: holding.carry + carry } : holding)),
  );
}

function holdingOf(
  { holdings }: UnitPool,
  subscriptionId: bigint,
): { readonly index: number; readonly holding: UnitHolding } {
  const index = indexOfHolding(holdings, subscriptionId);
  const holding = index === undefined ? undefined : holdings[index];
  if (index !== undefined && holding !== undefined) return { index, holding };
  throw new PoolBroken(`Subscription ${subscriptionId} has no holding in the pool.`);
}

export type FlatOutflow = {
  readonly subscriptionId: bigint;
  /** Cents taken from the pooled amount. */
  readonly amount: bigint;
  /** The Investor leaves the pool. */
  readonly isLast: boolean;
};

/**
 * Investors take capital out of a flat pool, or leave it, by one strike. Inflows get no units here: they may be younger than the
 * log position at which this was decided, so they get units at a separate strike.
 */
export function takeOutFlat(pool: UnitPool, outflows: readonly FlatOutflow[]): UnitPool {
  const taken = outflows.reduce((left, { subscriptionId, amount }) => takeOut(left, subscriptionId, amount), pool);
  const after = outflows
    .filter(({ isLast }) => isLast)
    .reduce((left, { subscriptionId }) => leaveUnits(left, subscriptionId), strikeFlatPool(taken));
  checkPool(after);
  return after;
}
