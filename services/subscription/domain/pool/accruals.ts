import { sumOf } from "./rounding.ts";
import type { Accrual, PoolPosition, UnitPool, UnitHolding } from "./unit-pool.ts";
import { allHoldings, sharingUnits, withHoldings } from "./units.ts";

/** A subscription id, or OWN_CAPITAL. */
export type Owner = bigint;

/** The exact floating result that an owner with these units has accrued, e8 times SCALE. */
export type Accrued = (owner: Owner, units: bigint) => bigint;

type Rows = Map<Owner, Accrual>;

/** Accruals over all open positions. Reads the rows once; each accrual is then one multiplication. */
export function accruedIn({ positions, accruals }: Pick<UnitPool, "positions" | "accruals">): Accrued {
  const perUnit = sumOf(positions.map((position) => position.perUnit));
  const bases = new Map<Owner, { basis: bigint; perUnit: bigint }>();
  for (const row of accruals) {
    const sum = bases.get(row.subscriptionId);
    if (sum === undefined) bases.set(row.subscriptionId, { basis: row.basis, perUnit: row.perUnit });
    else {
      sum.basis += row.basis;
      sum.perUnit += row.perUnit;
    }
  }
  return (owner, units) => {
    const own = bases.get(owner);
    return own === undefined ? units * perUnit : own.basis + units * (perUnit - own.perUnit);
  };
}

/** Accruals on one position. */
export function accruedOn(position: PoolPosition, accruals: readonly Accrual[]): Accrued {
  return accruedIn({
    positions: [position],
    accruals: accruals.filter((row) => row.positionId === position.positionId),
  });
}

/**
 * Sets new units. For each holding whose units change, the result accrued so far is first fixed as an amount (basis)
 * that does not depend on units, so no equity changes. The holdings must be those that `allHoldings` lists, in the same
 * order.
 */
export function changeUnits(pool: UnitPool, holdings: readonly UnitHolding[]): UnitPool {
  const [before, after] = [sharingUnits(allHoldings(pool)), sharingUnits(holdings)];
  const changed = new Map<Owner, { before: bigint; after: bigint }>();
  for (const [index, { subscriptionId }] of holdings.entries()) {
    const units = { before: before[index] ?? 0n, after: after[index] ?? 0n };
    if (units.before !== units.after) changed.set(subscriptionId, units);
  }
  const next = withHoldings(pool, holdings);
  if (changed.size === 0 || pool.positions.length === 0) return next;

  const accruals = pool.accruals.filter((row) => !changed.has(row.subscriptionId));
  for (const position of pool.positions) {
    const rows = rowsOf(position, pool.accruals);
    for (const [owner, units] of changed) {
      const row = fixAccrued(position, rows.get(owner), owner, units.before);
      if (isNeeded(row, units.after)) accruals.push(row);
    }
  }
  return { ...next, accruals: accruals.sort(byPositionThenOwner) };
}

function rowsOf({ positionId }: PoolPosition, accruals: readonly Accrual[]): Rows {
  const rows: Rows = new Map();
  for (const row of accruals) if (row.positionId === positionId) rows.set(row.subscriptionId, row);
  return rows;
}

function fixAccrued(position: PoolPosition, row: Accrual | undefined, owner: Owner, units: bigint): Accrual {
  const basis = (row?.basis ?? 0n) + units * (position.perUnit - (row?.perUnit ?? 0n));
  return { positionId: position.positionId, subscriptionId: owner, basis, perUnit: position.perUnit };
}

/** A row is not needed if it equals a missing row: its basis is 0, and perUnit is 0 or not multiplied by any units. */
function isNeeded(row: Accrual, units: bigint): boolean {
  return row.basis !== 0n || (units !== 0n && row.perUnit !== 0n);
}

/** A fixed order, own capital last, so that pools with equal history are equal. */
function byPositionThenOwner(left: Accrual, right: Accrual): number {
  if (left.positionId !== right.positionId) return left.positionId < right.positionId ? -1 : 1;
  if (left.subscriptionId === right.subscriptionId) return 0;
  return left.subscriptionId < right.subscriptionId ? -1 : 1;
}
