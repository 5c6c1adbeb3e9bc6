import { sumOf } from "./rounding.ts";
import type { Accrual, PoolPosition, UnitPool, UnitHolding } from "./unit-pool.ts";
import { suspenseUnits } from "./units.ts";

/** Undefined is suspense. */
export type Owner = bigint | undefined;

/** What everybody has accrued over all open positions, e8 times SCALE and exact. */
export type Accrued = (owner: Owner, units: bigint) => bigint;

type Rows = Map<Owner, Accrual>;

/** Reads the rows once; after that everybody's accrual costs a multiplication, however many positions are open. */
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

/** The same for one position. */
export function accruedOn(position: PoolPosition, accruals: readonly Accrual[]): Accrued {
  return accruedIn({
    positions: [position],
    accruals: accruals.filter((row) => row.positionId === position.positionId),
  });
}

/**
 * Gives holdings their new units. Before units change, what they have accrued so far becomes a number that no longer
 * depends on them; so nobody's equity moves. The holdings must be those of the pool, in the same order.
 */
export function changeUnits(pool: UnitPool, holdings: readonly UnitHolding[]): UnitPool {
  const changed = new Map<Owner, { before: bigint; after: bigint }>();
  for (const [index, holding] of holdings.entries()) {
    const before = pool.holdings[index]?.units ?? 0n;
    if (before !== holding.units) changed.set(holding.subscriptionId, { before, after: holding.units });
  }
  const suspense = { before: suspenseUnits(pool.holdings), after: suspenseUnits(holdings) };
  if (suspense.before !== suspense.after) changed.set(undefined, suspense);
  if (changed.size === 0 || pool.positions.length === 0) return { ...pool, holdings };

  const accruals = pool.accruals.filter((row) => !changed.has(row.subscriptionId));
  for (const position of pool.positions) {
    const rows = rowsOf(position, pool.accruals);
    for (const [owner, units] of changed) {
      const row = settled(position, rows.get(owner), owner, units.before);
      if (matters(row, units.after)) accruals.push(row);
    }
  }
  return { ...pool, holdings, accruals: accruals.sort(byPositionThenOwner) };
}

function rowsOf({ positionId }: PoolPosition, accruals: readonly Accrual[]): Rows {
  const rows: Rows = new Map();
  for (const row of accruals) if (row.positionId === positionId) rows.set(row.subscriptionId, row);
  return rows;
}

function settled(position: PoolPosition, row: Accrual | undefined, owner: Owner, units: bigint): Accrual {
  const basis = (row?.basis ?? 0n) + units * (position.perUnit - (row?.perUnit ?? 0n));
  return { positionId: position.positionId, subscriptionId: owner, basis, perUnit: position.perUnit };
}

/** Without units the second number has nothing to act on; with both 0 the row says what its absence says. */
function matters(row: Accrual, units: bigint): boolean {
  return row.basis !== 0n || (units !== 0n && row.perUnit !== 0n);
}

/** One order whatever happened first, suspense last, so that two pools with one history are equal. */
function byPositionThenOwner(left: Accrual, right: Accrual): number {
  if (left.positionId !== right.positionId) return left.positionId < right.positionId ? -1 : 1;
  if (left.subscriptionId === right.subscriptionId) return 0;
  if (left.subscriptionId === undefined) return 1;
  if (right.subscriptionId === undefined) return -1;
  return left.subscriptionId < right.subscriptionId ? -1 : 1;
}
