import type { Accrued } from "./accruals.ts";
import { equityOfHolding, netAssetValue } from "./equity.ts";
import { expectWhole } from "./others.ts";
import { ceilDivide, floorDivide } from "./rounding.ts";
import { type E8, E8_PER_CENT, type UnitHolding } from "./unit-pool.ts";
import { sharingHoldings, totalUnits } from "./units.ts";

/** The terms of all flows of one strike, fixed after the marks and before the first flow. */
export type StrikeTerms = {
  readonly price: Price;
  /** With the units from before the flows. */
  readonly accrued: Accrued;
  readonly flat: boolean;
};

type Price = { readonly units: bigint; readonly value: E8 };

/**
 * A unit is worth about 1e-8 USD. Beyond this factor in either direction rounding becomes visible, or the numbers of units grow without limit.
 */
const MAX_DRIFT = 64n;

/**
 * The holdings, own capital included, after a strike: outflows, then inflows, then new units for all holdings if a unit has no usable price.
 */
export function runFlows(holdings: readonly UnitHolding[], terms: StrikeTerms): UnitHolding[] {
  const accrued = fixedAccrued(holdings, terms.accrued);
  const priced = terms.price.units > 0n && terms.price.value > 0n;
  const flowed = priced ? buy(redeem(holdings, terms), terms.price, accrued) : holdings.map(moveWithoutUnits);
  const struck = priced && isPriceUsable(flowed, accrued) ? flowed : reissueUnits(flowed, accrued);
  return terms.flat ? struck.map(dropEmpty) : struck;
}

/** The accrued result of each holding before its units change. */
function fixedAccrued(holdings: readonly UnitHolding[], accrued: Accrued): Accrued {
  const amounts = new Map(sharingHoldings(holdings).map((holding) => [holding.subscriptionId, accrued(holding)]));
  return ({ subscriptionId }) => amounts.get(subscriptionId) ?? 0n;
}

/**
 * Redeems the units of outflows. The last units of a pool with open positions stay, so that its results have an owner.
 */
function redeem(holdings: readonly UnitHolding[], { price, flat }: StrikeTerms): UnitHolding[] {
  let left = price.units;
  return holdings.map((holding) => {
    if (holding.unredeemed === 0n) return holding;
    const due = ceilDivide(holding.unredeemed * E8_PER_CENT * price.units, price.value);
    const taken = due < holding.units ? due : holding.units;
    if (!flat && taken > 0n && taken === left) return holding;
    left -= taken;
    return { ...holding, units: holding.units - taken, unredeemed: 0n };
  });
}

/**
 * Issues units for inflows. A holding without units gets units for its whole equity, including what it owned without
 * units.
 */
function buy(holdings: readonly UnitHolding[], { units, value }: Price, accrued: Accrued): UnitHolding[] {
  return holdings.map((holding) => {
    if (holding.waiting === 0n) return holding;
    const joined = { ...holding, pooled: holding.pooled + holding.waiting, waiting: 0n };
    const worth = holding.units > 0n ? holding.waiting * E8_PER_CENT : atLeastZero(equityOfHolding(joined, accrued));
    return { ...joined, units: holding.units + floorDivide(worth * units, value) };
  });
}

/** Moves money without units, when a unit has no price. */
function moveWithoutUnits(holding: UnitHolding): UnitHolding {
  return { ...holding, pooled: holding.pooled + holding.waiting, waiting: 0n, unredeemed: 0n };
}

function isPriceUsable(holdings: readonly UnitHolding[], accrued: Accrued): boolean {
  const units = totalUnits(holdings);
  const value = netAssetValue(holdings, accrued);
  return value * MAX_DRIFT >= units && value <= units * MAX_DRIFT;
}

/** One unit per 1e-8 USD of equity and of unredeemed amounts. */
export function reissueUnits(holdings: readonly UnitHolding[], accrued: Accrued): UnitHolding[] {
  expectWhole(holdings);
  return holdings.map((holding) => {
    const leaving = holding.units > 0n ? holding.unredeemed * E8_PER_CENT : 0n;
    return { ...holding, units: atLeastZero(equityOfHolding(holding, accrued) + leaving) };
  });
}

function dropEmpty(holding: UnitHolding): UnitHolding {
  return holding.pooled === 0n ? { ...holding, units: 0n } : holding;
}

function atLeastZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}
