import { accruedOn } from "./accruals.ts";
import { divideToSum, floorDivide } from "./rounding.ts";
import { type E8, type PoolPosition, SCALE, type UnitPool } from "./unit-pool.ts";
import { allHoldings, sharingUnits } from "./units.ts";

/** The attributed result that a close makes due: one amount per holding, own capital last, and their sum. */
export type Release = { readonly total: E8; readonly amounts: readonly E8[] };

export type Closing = { readonly pool: UnitPool; readonly release: Release };

/** Reduces a position by the closed volume, and its mark and all accruals by the same part. */
export function closePosition(pool: UnitPool, position: PoolPosition, closed: bigint): Closing {
  const full = closed >= position.volume;
  const [part, whole] = full ? [1n, 1n] : [closed, position.volume];
  const accrued = accruedOn(position, pool.accruals);
  const all = allHoldings(pool);
  const sharing = sharingUnits(all);
  const owners = all.map(({ subscriptionId }, index) => accrued(subscriptionId, sharing[index] ?? 0n));
  const total = floorDivide(position.mark * part, SCALE * whole);
  const amounts = divideToSum(
    owners.map((amount) => amount * part),
    SCALE * whole,
    total,
  );
  return {
    pool: full
      ? dropPosition(pool, position)
      : shrinkPosition(pool, position, (scaled) => floorDivide(scaled * (whole - part), whole)),
    release: { total, amounts },
  };
}

function dropPosition(pool: UnitPool, { positionId }: PoolPosition): UnitPool {
  return {
    ...pool,
    positions: pool.positions.filter((each) => each.positionId !== positionId),
    accruals: pool.accruals.filter((row) => row.positionId !== positionId),
  };
}

function shrinkPosition(pool: UnitPool, position: PoolPosition, left: (scaled: bigint) => bigint): UnitPool {
  const { positionId, mark, perUnit, volume, valued } = position;
  const smaller = { ...position, volume: left(volume), mark: left(mark), perUnit: left(perUnit), valued: left(valued) };
  return {
    ...pool,
    positions: pool.positions.map((each) => (each.positionId === positionId ? smaller : each)),
    accruals: pool.accruals.map((row) =>
      row.positionId === positionId ? { ...row, basis: left(row.basis), perUnit: left(row.perUnit) } : row,
    ),
  };
}
