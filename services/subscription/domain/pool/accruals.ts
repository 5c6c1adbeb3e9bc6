import { sumOf } from "./rounding.ts";
import type { Accrual, UnitPool, UnitHolding } from "./unit-pool.ts";
import { allHoldings, sharingHoldings, withHoldings } from "./units.ts";

/** The exact floating result that a holding with these units has accrued, e8 times SCALE. */
export type Accrued = (holding: Pick<UnitHolding, "subscriptionId" | "units">) => bigint;

/** Accruals over all open positions. Reads the rows once; each accrual is then one multiplication. */
export function accruedIn({ positions, accruals }: Pick<UnitPool, "positions" | "accruals">): Accrued {
  const perUnit = sumOf(positions.map((position) => position.perUnit));
  const bases = new Map<bigint, { basis: bigint; perUnit: bigint }>();
  for (const row of accruals) {
    const sum = bases.get(row.subscriptionId) ?? { basis: 0n, perUnit: 0n };
    bases.set(row.subscriptionId, { basis: sum.basis + row.basis, perUnit: sum.perUnit + row.perUnit });
  }
  return ({ subscriptionId, units }) => {
    const own = bases.get(subscriptionId);
    return own === undefined ? units * perUnit : own.basis + units * (perUnit - own.perUnit);
  };
}

/**
 * Sets new units. For each holding whose units change, the result accrued so far is first fixed as an amount (basis)
 * that does not depend on units, so no equity changes. The holdings must be those that `allHoldings` lists, in the same
 * order.
 */
export function changeUnits(pool: UnitPool, holdings: readonly UnitHolding[]): UnitPool {
  const after = new Map(sharingHoldings(holdings).map(({ subscriptionId, units }) => [subscriptionId, units]));
  const before = sharingHoldings(allHoldings(pool));
  const changed = before.filter(({ subscriptionId, units }) => after.get(subscriptionId) !== units);
  const next = withHoldings(pool, holdings);
  if (changed.length === 0 || pool.positions.length === 0) return next;

  const owners = new Set(changed.map(({ subscriptionId }) => subscriptionId));
  const accruals = pool.accruals.filter(({ subscriptionId }) => !owners.has(subscriptionId));
  for (const { positionId, perUnit } of pool.positions) {
    const ofPosition = pool.accruals.filter((row) => row.positionId === positionId);
    const rows = new Map(ofPosition.map((row) => [row.subscriptionId, row]));
    for (const { subscriptionId, units } of changed) {
      const row = rows.get(subscriptionId);
      const basis = (row?.basis ?? 0n) + units * (perUnit - (row?.perUnit ?? 0n));
      // It equals a missing row if its basis is 0, and perUnit is 0 or not multiplied by any units.
      const isNeeded = basis !== 0n || (after.get(subscriptionId) !== 0n && perUnit !== 0n);
      if (isNeeded) accruals.push({ positionId, subscriptionId, basis, perUnit });
    }
  }
  return { ...next, accruals: accruals.sort(byPositionThenOwner) };
}

/** A fixed order, own capital last, so that pools with equal history are equal. */
function byPositionThenOwner(left: Accrual, right: Accrual): number {
  if (left.positionId !== right.positionId) return left.positionId < right.positionId ? -1 : 1;
  if (left.subscriptionId === right.subscriptionId) return 0;
  return left.subscriptionId < right.subscriptionId ? -1 : 1;
}
