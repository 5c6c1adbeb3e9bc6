import { type Accrued, accruedIn } from "./accruals.ts";
import { roundDivide, sumOf } from "./rounding.ts";
import { type E8, E8_PER_CENT, SCALE, type UnitPool, type UnitHolding } from "./unit-pool.ts";
import { indexOfHolding } from "./units.ts";

/**
 * E: cash and attributed floating result of an Investor, as if all positions were closed at their marks; 0 without a
 * holding.
 */
export function equityOf(pool: UnitPool, subscriptionId: bigint): E8 {
  const holding = pool.holdings[indexOfHolding(pool.holdings, subscriptionId) ?? -1];
  return holding === undefined ? 0n : equityOfHolding(holding, accruedIn(pool));
}

export function equityOfHolding(holding: UnitHolding, accrued: Accrued): E8 {
  return cashOf(holding) + roundDivide(accrued(holding.subscriptionId, holding.units), SCALE);
}

/** Cash and marks of all holdings and suspense; below 0 the Master has lost more than its capital. */
export function poolEquity({ holdings, suspense, positions }: UnitPool): E8 {
  const cash = sumOf(holdings.map(cashOf)) + suspense.amount * E8_PER_CENT + suspense.carry;
  return cash + roundDivide(sumOf(positions.map((position) => position.mark)), SCALE);
}

/** The value of all units. Unredeemed amounts count until their units are redeemed. */
export function netAssetValue(holdings: readonly UnitHolding[], accrued: Accrued): E8 {
  let cash = 0n;
  let floating = 0n;
  for (const holding of holdings) {
    if (holding.units === 0n) continue;
    cash += cashOf(holding) + holding.unredeemed * E8_PER_CENT;
    floating += accrued(holding.subscriptionId, holding.units);
  }
  return cash + roundDivide(floating, SCALE);
}

function cashOf(holding: UnitHolding): E8 {
  return holding.pooled * E8_PER_CENT + holding.carry;
}
