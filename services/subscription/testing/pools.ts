import { allocateDeal, type Allocation, type PoolDeal } from "../domain/pool/allocate-deal.ts";
import { checkPool } from "../domain/pool/check-pool.ts";
import { type Mark, strikePool } from "../domain/pool/strike-pool.ts";
import { EMPTY_POOL, OWN_CAPITAL, type UnitPool, type UnitHolding } from "../domain/pool/unit-pool.ts";
import { indexOfHolding } from "../domain/pool/units.ts";

const LOT = 100_000_000n;

/** A flat pool; the first amount is that of subscription 1, and so on. */
export function aPool(...cents: readonly bigint[]): UnitPool {
  const joined = cents.reduce((pool, amount, index) => withDeposit(pool, BigInt(index + 1), amount), EMPTY_POOL);
  return strikePool(joined, []);
}

/** On the Master, not yet struck. A subscription that has no holding gets one. */
export function withDeposit(pool: UnitPool, subscriptionId: bigint, amount: bigint): UnitPool {
  const holding = holdingOf(pool, subscriptionId);
  if (subscriptionId === OWN_CAPITAL) return { ...pool, own: { ...holding, waiting: holding.waiting + amount } };
  const others = pool.holdings.filter((each) => each.subscriptionId !== subscriptionId);
  const holdings = [...others, { ...holding, waiting: holding.waiting + amount }];
  return { ...pool, holdings: holdings.sort((left, right) => (left.subscriptionId < right.subscriptionId ? -1 : 1)) };
}

export function holdingOf(pool: UnitPool, subscriptionId: bigint): UnitHolding {
  if (subscriptionId === OWN_CAPITAL) return pool.own;
  return pool.holdings[indexOfHolding(pool.holdings, subscriptionId) ?? -1] ?? anEmptyHolding(subscriptionId);
}

export function anEmptyHolding(subscriptionId: bigint): UnitHolding {
  return { subscriptionId, units: 0n, pooled: 0n, waiting: 0n, unredeemed: 0n, carry: 0n };
}

/** A deal of one lot by default. */
export function aDeal(deal: Partial<PoolDeal>): PoolDeal {
  const volume = deal.volume ?? LOT;
  const closes = deal.kind === "exit" || deal.kind === "reversal";
  return {
    kind: "exit",
    positionId: 0n,
    volume,
    volumeClosed: closes ? volume : 0n,
    result: 0n,
    ...deal,
  };
}

export function aMark(positionId: bigint, floating: bigint, volume = LOT): Mark {
  return { positionId, volume, floating };
}

/** The pool after a deal, checked. */
export function after(pool: UnitPool, deal: Partial<PoolDeal>): UnitPool {
  return allocated(pool, deal).pool;
}

export function allocated(pool: UnitPool, deal: Partial<PoolDeal>): Allocation {
  const allocation = allocateDeal(pool, aDeal(deal));
  checkPool(allocation.pool);
  return allocation;
}

export function struck(pool: UnitPool, ...marks: readonly Mark[]): UnitPool {
  const result = strikePool(pool, marks);
  checkPool(result);
  return result;
}

/** Allocated cents, ascending by subscription. */
export function partsOf({ pool, parts }: Pick<Allocation, "pool" | "parts">): bigint[] {
  const bySubscription = new Map(parts.map((part) => [part.subscriptionId, part.amount]));
  return pool.holdings.map((holding) => bySubscription.get(holding.subscriptionId) ?? 0n);
}

export function pooled(pool: UnitPool): bigint[] {
  return pool.holdings.map((holding) => holding.pooled);
}
