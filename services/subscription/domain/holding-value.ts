import { floatingShares } from "./pool/floating-shares.ts";
import { roundDivide, sumOf } from "./pool/rounding.ts";
import {
  type Accrual,
  type E8,
  E8_PER_CENT,
  EMPTY_POOL,
  type PoolPosition,
  SCALE,
  type UnitHolding,
} from "./pool/unit-pool.ts";

/** The holdings of a pool in sum, own capital included: an Investor is valued without reading all others. */
export type PoolSums = {
  readonly units: bigint;
  /** Cents of the holdings with units, with what waits to be redeemed. */
  readonly cash: bigint;
  readonly carry: E8;
  /** Attributed result of the holdings without units, e8 times SCALE. */
  readonly basisWithoutUnits: bigint;
};

export type HoldingFacts = {
  readonly holding: UnitHolding;
  readonly positions: readonly PoolPosition[];
  /** Those of the holding. */
  readonly accruals: readonly Accrual[];
  readonly sums: PoolSums;
};

export type HoldingValue = {
  /** f: share of the floating result. */
  readonly floating: E8;
  /** The value of all units. */
  readonly poolValue: E8;
};

/** Values a holding and the pool as if all positions were closed at these results (cents by position). */
export function valueHolding(
  { holding, positions, accruals, sums }: HoldingFacts,
  results: ReadonlyMap<bigint, bigint>,
): HoldingValue {
  // All other units count as those of one holding.
  const own = { ...EMPTY_POOL.own, units: sums.units - holding.units };
  const shares = floatingShares({ holdings: [holding], own, positions, accruals }, results);
  return { floating: shares.get(holding.subscriptionId) ?? 0n, poolValue: poolValueOf(positions, sums, results) };
}

/** The attributed results of all holdings add up to the marks. */
function poolValueOf(positions: readonly PoolPosition[], sums: PoolSums, results: ReadonlyMap<bigint, bigint>): E8 {
  if (sums.units === 0n) return 0n;
  const floating = sumOf(
    positions.map(({ positionId, mark }) => {
      const result = results.get(positionId);
      return result === undefined ? mark : result * E8_PER_CENT * SCALE;
    }),
  );
  return sums.cash * E8_PER_CENT + sums.carry + roundDivide(floating - sums.basisWithoutUnits, SCALE);
}
