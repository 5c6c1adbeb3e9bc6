import { accruedIn, changeUnits } from "./accruals.ts";
import { netAssetValue } from "./equity.ts";
import { PoolBroken } from "./pool-broken.ts";
import { floorDivide } from "./rounding.ts";
import { runFlows } from "./run-flows.ts";
import { E8_PER_CENT, type PoolPosition, SCALE, type UnitPool } from "./unit-pool.ts";
import { suspenseUnits, totalUnits } from "./units.ts";

/** An open position of the Master as the platform shows it. */
export type Mark = {
  readonly positionId: bigint;
  readonly symbol: string;
  /** Lots in units of 1e-8. */
  readonly volume: bigint;
  /** Profit and swap so far, in cents. */
  readonly floating: bigint;
};

/**
 * Gives what waits its units, at the value they have now: whatever floats is attributed to those who earned it before
 * anybody joins or leaves. The marks are all open positions of the Master, none when it is flat. What can not be struck
 * now stays as it is.
 */
export function strikePool(pool: UnitPool, marks: readonly Mark[]): UnitPool {
  const marked = markPositions(pool, marks);
  const accrued = accruedIn(marked);
  const flat = marked.positions.length === 0;
  const price = { units: totalUnits(marked.holdings), value: netAssetValue(marked.holdings, accrued) };
  if (price.units > 0n && price.value <= 0n && !flat) return marked;
  return changeUnits(marked, runFlows(marked.holdings, { price, accrued, flat }));
}

function markPositions(pool: UnitPool, marks: readonly Mark[]): UnitPool {
  const known = new Map(pool.positions.map((position) => [position.positionId, position]));
  const units = totalUnits(pool.holdings) + suspenseUnits(pool.holdings);
  const positions = marks.map((mark) => {
    const position = known.get(mark.positionId);
    known.delete(mark.positionId);
    return markPosition(mark, position, units);
  });
  const gone = new Set(known.keys());
  if (gone.size > 0) refuseToForget(pool, gone);
  return { ...pool, positions: positions.sort(byId) };
}

/** One that our books do not know was open before them: nothing of it is attributed yet. */
function markPosition(mark: Mark, position: PoolPosition | undefined, units: bigint): PoolPosition {
  const floating = mark.floating * E8_PER_CENT * SCALE;
  const earned = floating - (position?.mark ?? 0n);
  return {
    positionId: mark.positionId,
    symbol: mark.symbol,
    volume: mark.volume,
    mark: floating,
    perUnit: (position?.perUnit ?? 0n) + floorDivide(earned, units),
  };
}

/** A position goes by its deals. If attributed money went with it in silence, somebody would lose it. */
function refuseToForget({ positions, accruals }: UnitPool, gone: ReadonlySet<bigint>): void {
  const attributed = [...positions.filter(({ mark, perUnit }) => mark !== 0n || perUnit !== 0n), ...accruals].find(
    ({ positionId }) => gone.has(positionId),
  );
  if (attributed === undefined) return;
  throw new PoolBroken(`Position ${attributed.positionId} is open in the books, but not on the platform.`);
}

function byId(left: PoolPosition, right: PoolPosition): number {
  return left.positionId < right.positionId ? -1 : 1;
}
