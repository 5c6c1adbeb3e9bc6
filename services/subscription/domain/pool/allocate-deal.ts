import { accruedIn } from "./accruals.ts";
import { divideToSum, floorDivide } from "./rounding.ts";
import { type Allocation, type Release, shareResult } from "./share-result.ts";
import { type PoolPosition, SCALE, type UnitPool } from "./unit-pool.ts";
import { allHoldings, sharingHoldings } from "./units.ts";

export type { Allocation } from "./share-result.ts";

/** What a deal of the Master means to its pool. */
export type PoolDeal = {
  /**
   * A charge has no trade: commission, interest, dividend, tax. A reversal closes the position and opens the opposite
   * one.
   */
  readonly kind: "entry" | "exit" | "reversal" | "charge";
  /** 0 for a charge without a position. */
  readonly positionId: bigint;
  /** Lots in units of 1e-8, as all volumes here. */
  readonly volume: bigint;
  /** The part of the volume that closed a position. */
  readonly volumeClosed: bigint;
  /** Profit, swap, commission and fee together, in cents. */
  readonly result: bigint;
};

/**
 * Allocates the result of a deal to the cent, and opens, increases, reduces or closes its position. A close is
 * allocated even at 0.00, because the attributed floating result of each holding becomes due.
 */
export function allocateDeal(pool: UnitPool, deal: PoolDeal): Allocation {
  switch (deal.kind) {
    case "charge":
      return shareUnlessZero(pool, deal.result);
    case "entry":
      return shareUnlessZero(enter(pool, deal, deal.volume), deal.result);
    case "exit": {
      const { pool: left, release } = close(pool, deal);
      return shareResult(left, deal.result, release);
    }
    case "reversal": {
      const { pool: left, release } = close(pool, deal);
      return shareResult(enter(left, deal, reopened(pool, deal)), deal.result, release);
    }
  }
}

function shareUnlessZero(pool: UnitPool, result: bigint): Allocation {
  return result === 0n ? { pool, parts: [], own: 0n } : shareResult(pool, result);
}

const NO_RESULT = { mark: 0n, perUnit: 0n, valued: 0n };

/** Increasing a position does not change its attributed result. */
function enter(pool: UnitPool, { positionId }: PoolDeal, volume: bigint): UnitPool {
  if (volume <= 0n) return pool;
  const position = positionOf(pool, positionId) ?? { positionId, volume: 0n, ...NO_RESULT };
  const others = pool.positions.filter((each) => each.positionId !== positionId);
  const positions = [...others, { ...position, volume: position.volume + volume }];
  return { ...pool, positions: positions.sort((left, right) => (left.positionId < right.positionId ? -1 : 1)) };
}

/**
 * Reduces a position by the closed volume, and its mark and all accruals by the same part. A position that the books do not contain
 * has no attributed result to release.
 */
function close(pool: UnitPool, deal: PoolDeal): { readonly pool: UnitPool; readonly release?: Release } {
  const position = positionOf(pool, deal.positionId);
  if (position === undefined) return { pool };
  const { positionId, volume, mark, perUnit, valued } = position;
  const closed = deal.kind === "reversal" ? volume : closedBy(deal);
  const [part, whole] = closed >= volume ? [1n, 1n] : [closed, volume];
  const ofPosition = pool.accruals.filter((row) => row.positionId === positionId);
  const others = pool.accruals.filter((row) => row.positionId !== positionId);
  const accrued = accruedIn({ positions: [position], accruals: ofPosition });
  const total = floorDivide(mark * part, SCALE * whole);
  const amounts = divideToSum(
    sharingHoldings(allHoldings(pool)).map((holding) => accrued(holding) * part),
    SCALE * whole,
    total,
  );
  const release = { total, amounts };
  if (part === whole) {
    return {
      pool: { ...pool, positions: pool.positions.filter((each) => each !== position), accruals: others },
      release,
    };
  }
  const left = (scaled: bigint): bigint => floorDivide(scaled * (whole - part), whole);
  const smaller = { ...position, volume: left(volume), mark: left(mark), perUnit: left(perUnit), valued: left(valued) };
  const positions = pool.positions.map((each) => (each === position ? smaller : each));
  const accruals = pool.accruals.map((row) =>
    row.positionId === positionId ? { ...row, basis: left(row.basis), perUnit: left(row.perUnit) } : row,
  );
  return { pool: { ...pool, positions, accruals }, release };
}

/** The volume of the opposite position after a reversal. */
function reopened(pool: UnitPool, deal: PoolDeal): bigint {
  if (deal.volumeClosed > 0n) return deal.volume - deal.volumeClosed;
  return deal.volume - (positionOf(pool, deal.positionId)?.volume ?? 0n);
}

/** Some servers report no closed volume for an exit; its whole volume closes. */
function closedBy({ volume, volumeClosed }: PoolDeal): bigint {
  return volumeClosed > 0n ? volumeClosed : volume;
}

function positionOf(pool: UnitPool, positionId: bigint): PoolPosition | undefined {
  return pool.positions.find((position) => position.positionId === positionId);
}
