import { floatingShares } from "./pool/equity.ts";
import { roundDivide, sumOf } from "./pool/rounding.ts";
import {
  type Accrual,
  type E8,
  E8_PER_CENT,
  EMPTY_POOL,
  type PoolPosition,
  SCALE,
  type UnitHolding,
  type UnitPool,
} from "./pool/unit-pool.ts";
import { isReversal, type MasterDeal, realisedFloating } from "./master-deal.ts";
import type { Mark } from "./pool/strike-pool.ts";

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

/**
 * The floating result of a pool's open positions before `dealsSince`, in cents by position: the floating result that
 * the later marks show, plus what those deals realised of it. Positions that were opened since are left out.
 */
export function floatingBefore(
  pool: UnitPool,
  marks: readonly Mark[],
  dealsSince: readonly MasterDeal[],
): ReadonlyMap<bigint, bigint> {
  const shown = new Map(marks.map(({ positionId, floating }) => [positionId, floating]));
  const open = new Map(pool.positions.map(({ positionId }) => [positionId, 0n]));
  const reversed = new Set<bigint>();
  for (const deal of dealsSince) {
    const realised = open.get(deal.positionId);
    if (realised === undefined || reversed.has(deal.positionId)) continue;
    open.set(deal.positionId, realised + realisedFloating(deal));
    // The position that is open after a reversal was opened since.
    if (isReversal(deal)) reversed.add(deal.positionId);
  }
  return new Map([...open].map(([id, realised]) => [id, realised + (reversed.has(id) ? 0n : (shown.get(id) ?? 0n))]));
}
