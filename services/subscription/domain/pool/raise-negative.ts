import { accruedIn, changeUnits } from "./accruals.ts";
import { expectWhole } from "./others.ts";
import { divideToSum, floorDivide, roundDivide, sumOf } from "./rounding.ts";
import { CENT_TOLERANCE } from "./share-result.ts";
import { attributeValued, strikeFlatPool } from "./strike-pool.ts";
import {
  E8_PER_CENT,
  OWN_CAPITAL,
  type Part,
  PoolBroken,
  SCALE,
  type UnitHolding,
  type UnitPool,
} from "./unit-pool.ts";
import { allHoldings, sharingHoldings } from "./units.ts";
import { checkPool } from "./check-pool.ts";
import { takeOut } from "./take-out.ts";

export type Raised = {
  readonly pool: UnitPool;
  /** Cents of each subscription that was below zero; own capital is not among them. */
  readonly raised: readonly Part[];
  readonly own: bigint;
  /** With own capital. */
  readonly total: bigint;
};

/**
 * Raises the holdings below zero towards 0.00 with at most `amount` cents, in proportion to what each lacks. This is no result: carries
 * and allocations do not change, and holdings that lack nothing get nothing. Units still represent the shares in what there is.
 */
export function raiseNegative(pool: UnitPool, amount: bigint): Raised {
  const all = allHoldings(pool);
  expectWhole(all);
  const lacks = lacksOf(pool, all);
  const missing = sumOf(lacks);
  const total = amount < missing ? amount : missing;
  if (total <= 0n) return { pool, raised: [], own: 0n, total: 0n };
  const parts = divideToSum(
    lacks.map((lack) => lack * total),
    missing,
    total,
  );
  const raisedOf = (index: number): bigint => parts[index] ?? 0n;
  return {
    pool: changeUnits(
      attributeValued(pool),
      all.map((holding, index) => raise(holding, raisedOf(index), lacks[index] ?? 0n)),
    ),
    raised: pool.holdings.flatMap(({ subscriptionId }, index) =>
      raisedOf(index) === 0n ? [] : [{ subscriptionId, amount: raisedOf(index) }],
    ),
    own: raisedOf(all.length - 1),
    total,
  };
}

/**
 * What a holding has taken out counts in the value of units until its own are redeemed. As far as it is what the holding lacks, it is redeemed
 * no longer to the part that is filled. Own capital gives up its units instead, because each of its outflows is recorded by itself.
 */
function raise(holding: UnitHolding, amount: bigint, lack: bigint): UnitHolding {
  const { pooled, unredeemed } = holding;
  const raised = { ...holding, pooled: pooled + amount };
  if (amount === 0n || unredeemed === 0n) return raised;
  if (holding.subscriptionId === OWN_CAPITAL) return { ...raised, units: 0n };
  const takenOut = unredeemed < lack ? unredeemed : lack;
  return { ...raised, unredeemed: unredeemed - (takenOut * amount) / lack };
}

/**
 * How far each holding is below zero, in cents: its cash with its part of what floated when the pool was valued last, because that becomes cash
 * when the positions are closed. What accruals were rounded by is not lacking.
 */
function lacksOf(pool: UnitPool, all: readonly UnitHolding[]): bigint[] {
  const accrued = accruedIn(attributeValued(pool));
  return sharingHoldings(all).map((holding) => {
    const floating = roundDivide(accrued(holding), SCALE);
    const value = holding.pooled + floorDivide(floating + CENT_TOLERANCE, E8_PER_CENT);
    return value < 0n ? -value : 0n;
  });
}

/**
 * Raises every Investor below zero to 0.00 out of own capital, whose units are redeemed. This is not a result:
 * allocations do not change. Waiting money keeps waiting. Only for a flat Master, because a floating result could still cover the deficit.
 */
export function compensate(pool: UnitPool): Omit<Raised, "own"> {
  if (pool.positions.length > 0) throw new PoolBroken("A deficit is not covered while positions are open.");
  const lacking = sumOf(pool.holdings.map(({ pooled }) => (pooled < 0n ? -pooled : 0n)));
  // Own capital pays, so its own hole is not raised.
  const { pool: raisedPool, raised, total } = raiseNegative({ ...pool, own: { ...pool.own, pooled: 0n } }, lacking);
  const taken = takeOut({ ...raisedPool, own: pool.own }, OWN_CAPITAL, total);
  const after = strikeFlatPool(taken, { ownOutflow: total });
  checkPool(after);
  return { pool: after, raised, total };
}
