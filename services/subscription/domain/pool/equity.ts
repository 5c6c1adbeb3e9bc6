import { type Accrued, accruedIn } from "./accruals.ts";
import { roundDivide, sumOf } from "./rounding.ts";
import { type E8, E8_PER_CENT, SCALE, type UnitPool, type UnitHolding } from "./unit-pool.ts";
import { allHoldings, sharingHoldings, totalUnits } from "./units.ts";

/**
 * E: cash and attributed floating result of a holding, as if all positions were closed at their marks; 0 without a
 * holding.
 */
export function equityOf(pool: UnitPool, subscriptionId: bigint): E8 {
  const holding = sharingHoldings(allHoldings(pool)).find((each) => each.subscriptionId === subscriptionId);
  return holding === undefined ? 0n : equityOfHolding(holding, accruedIn(pool));
}

export function equityOfHolding(holding: UnitHolding, accrued: Accrued): E8 {
  return cashOf(holding) + roundDivide(accrued(holding), SCALE);
}

/**
 * Cash of all holdings and what floated when the pool was valued last; below 0 the Master has lost more than its capital. Money that a dealer
 * has taken from the Master is no loss of its pool, so own capital counts as 0.00 when it is below.
 */
export function poolEquity({ holdings, own, positions }: UnitPool): E8 {
  const counted = own.pooled < 0n ? { ...own, pooled: 0n } : own;
  const cash = sumOf([...holdings, counted].map(cashOf));
  return cash + roundDivide(sumOf(positions.map((position) => position.valued)), SCALE);
}

/** The value of all units. Unredeemed amounts count until their units are redeemed. */
export function netAssetValue(holdings: readonly UnitHolding[], accrued: Accrued): E8 {
  let cash = 0n;
  let floating = 0n;
  for (const holding of holdings) {
    if (holding.units === 0n) continue;
    cash += cashOf(holding) + holding.unredeemed * E8_PER_CENT;
    floating += accrued(holding);
  }
  return cash + roundDivide(floating, SCALE);
}

/** The value of all units with the floating results of the last valuation; 0 without units. */
export function valueOfUnits(pool: UnitPool): E8 {
  const all = allHoldings(pool);
  if (all.every(({ units }) => units === 0n)) return 0n;
  const since = sumOf(pool.positions.map(({ valued, mark }) => valued - mark));
  return netAssetValue(all, accruedIn(pool)) + roundDivide(since, SCALE);
}

/**
 * f: the share of each subscription in the floating result, if all positions were closed at these results (cents by
 * position). A position without a result counts with its mark; a result of a position that the pool does not contain is
 * ignored.
 */
export function floatingShares(pool: UnitPool, floating: ReadonlyMap<bigint, bigint>): ReadonlyMap<bigint, E8> {
  const accrued = accruedIn(pool);
  const units = totalUnits(allHoldings(pool));
  let unmarked = 0n;
  for (const { positionId, mark } of pool.positions) {
    const result = floating.get(positionId);
    if (result !== undefined) unmarked += result * E8_PER_CENT * SCALE - mark;
  }
  const shares = pool.holdings.map((holding): [bigint, E8] => {
    const own = accrued(holding);
    if (units === 0n) return [holding.subscriptionId, roundDivide(own, SCALE)];
    return [holding.subscriptionId, roundDivide(own * units + unmarked * holding.units, SCALE * units)];
  });
  return new Map(shares);
}

function cashOf(holding: UnitHolding): E8 {
  return holding.pooled * E8_PER_CENT + holding.carry;
}
