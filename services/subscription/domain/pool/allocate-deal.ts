import { type Closing, closePosition } from "./close-position.ts";
import { type SharedResult, shareResult } from "./share-result.ts";
import type { PoolPosition, UnitPool } from "./unit-pool.ts";

/** What a deal of the Master means to its pool. */
export type PoolDeal = {
  /**
   * A charge has no trade: commission, interest, dividend, tax. A reversal closes the position and opens the opposite
   * one.
   */
  readonly kind: "entry" | "exit" | "reversal" | "charge";
  /** 0 for a charge without a position. */
  readonly positionId: bigint;
  readonly symbol: string;
  /** Lots in units of 1e-8, as all volumes here. */
  readonly volume: bigint;
  /** The part of the volume that closed a position. */
  readonly volumeClosed: bigint;
  /** Profit, swap, commission and fee together, in cents. */
  readonly result: bigint;
};

/** The pool after a deal, and the part of each Investor. */
export type Allocation = SharedResult;

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
  return result === 0n ? { pool, parts: [], own: 0n } : shareResult(pool, result, undefined);
}

const NO_RESULT = { mark: 0n, perUnit: 0n, valued: 0n };

/** Increasing a position does not change its attributed result. */
function enter(pool: UnitPool, { positionId, symbol }: PoolDeal, volume: bigint): UnitPool {
  if (volume <= 0n) return pool;
  const position = positionOf(pool, positionId) ?? { positionId, symbol, volume: 0n, ...NO_RESULT };
  const others = pool.positions.filter((each) => each.positionId !== positionId);
  const positions = [...others, { ...position, volume: position.volume + volume }];
  return { ...pool, positions: positions.sort((left, right) => (left.positionId < right.positionId ? -1 : 1)) };
}

/** A position that the books do not contain has no attributed result to release. */
function close(pool: UnitPool, deal: PoolDeal): Closing | { readonly pool: UnitPool; readonly release: undefined } {
  const position = positionOf(pool, deal.positionId);
  if (position === undefined) return { pool, release: undefined };
  return closePosition(pool, position, deal.kind === "reversal" ? position.volume : closedBy(deal));
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
