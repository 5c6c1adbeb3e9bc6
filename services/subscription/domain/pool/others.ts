import { type E8, OWN_CAPITAL, type UnitHolding, type UnitPool } from "./unit-pool.ts";

/**
 * The holdings of all Investors in a pool, in sum. A flow moves money between pooled and unredeemed only, so these sums change only when units,
 * carries or results do: under the lock of the pool.
 */
export type HoldingSums = {
  readonly units: bigint;
  /** Cents of the holdings with units, pooled and unredeemed, and their carries. */
  readonly cash: bigint;
  readonly carry: E8;
  /** The same of the holdings without units. */
  readonly unitlessCash: bigint;
  readonly unitlessCarry: E8;
  /** Number of holdings with units and no cash: the next strike of the flat pool takes their units, whatever flows it has. */
  readonly emptied: bigint;
};

/** In place of subscription ids in a part of a pool: the holdings that were not loaded, as one with units and one without. */
const OTHERS = OWN_CAPITAL - 1n;
const UNITLESS_OTHERS = OWN_CAPITAL - 2n;

/** A change of a part of a pool concerns each holding of those that it has only in sum. */
export class WholePoolNeeded extends Error {}

/** A change of a pool, or undefined when only the whole pool can be changed so. */
export function inPart(change: () => UnitPool): UnitPool | undefined {
  try {
    return change();
  } catch (error) {
    if (error instanceof WholePoolNeeded) return undefined;
    throw error;
  }
}

export function isOthers({ subscriptionId }: UnitHolding): boolean {
  return subscriptionId === OTHERS || subscriptionId === UNITLESS_OTHERS;
}

export function expectWhole(holdings: readonly UnitHolding[]): void {
  if (holdings.some(isOthers)) throw new WholePoolNeeded("The holdings of a pool are needed, not their sums.");
}

export const NO_SUMS: HoldingSums = {
  units: 0n,
  cash: 0n,
  carry: 0n,
  unitlessCash: 0n,
  unitlessCarry: 0n,
  emptied: 0n,
};

export function sumHoldings(holdings: readonly UnitHolding[]): HoldingSums {
  let { units, cash, carry, unitlessCash, unitlessCarry, emptied } = NO_SUMS;
  for (const holding of holdings) {
    const owned = holding.pooled + holding.unredeemed;
    if (holding.units === 0n) {
      unitlessCash += owned;
      unitlessCarry += holding.carry;
      continue;
    }
    units += holding.units;
    cash += owned;
    carry += holding.carry;
    if (owned === 0n) emptied += 1n;
  }
  return { units, cash, carry, unitlessCash, unitlessCarry, emptied };
}

export function subtractSums(from: HoldingSums, less: HoldingSums): HoldingSums {
  return {
    units: from.units - less.units,
    cash: from.cash - less.cash,
    carry: from.carry - less.carry,
    unitlessCash: from.unitlessCash - less.unitlessCash,
    unitlessCarry: from.unitlessCarry - less.unitlessCarry,
    emptied: from.emptied - less.emptied,
  };
}

/**
 * The holdings of a pool that has these sums, given all those with flows: the others, which a strike of the flat pool leaves as they are,
 * follow in sum. Undefined when it would not.
 */
export function withOthers(withFlows: readonly UnitHolding[], sums: HoldingSums): UnitHolding[] | undefined {
  const rest = subtractSums(sums, sumHoldings(withFlows));
  // Without cash, the others in sum would lose their units, as one holding does.
  if (rest.emptied !== 0n || (rest.units !== 0n && rest.cash === 0n)) return undefined;
  const others = [
    { ...NO_FLOWS, subscriptionId: UNITLESS_OTHERS, units: 0n, pooled: rest.unitlessCash, carry: rest.unitlessCarry },
    { ...NO_FLOWS, subscriptionId: OTHERS, units: rest.units, pooled: rest.cash, carry: rest.carry },
  ];
  return [...withFlows, ...others.filter(({ units, pooled, carry }) => units !== 0n || pooled !== 0n || carry !== 0n)];
}

const NO_FLOWS = { waiting: 0n, unredeemed: 0n };
