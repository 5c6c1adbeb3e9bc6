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
 * Issues units for waiting money and redeems units of outflows at the current value of a unit. The floating result is
 * first attributed to the holdings that earned it, before any holding joins or leaves. `marks` are all open positions
 * of the Master, none when it is flat. While positions are open and the units are worth nothing, no flow is struck.
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
  const missing = new Set(known.keys());
  if (missing.size > 0) assertNothingAttributed(pool, missing);
  return { ...pool, positions: positions.sort(byId) };
}

/** A position that the books do not contain has no attributed result yet. */
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

/** A position is closed only by deals. If it is missing without one, its attributed result would be lost. */
function assertNothingAttributed({ positions, accruals }: UnitPool, missing: ReadonlySet<bigint>): void {
  const attributed = [...positions.filter(({ mark, perUnit }) => mark !== 0n || perUnit !== 0n), ...accruals].find(
    ({ positionId }) => missing.has(positionId),
  );
  if (attributed === undefined) return;
  throw new PoolBroken(`Position ${attributed.positionId} is open in the books, but not on the platform.`);
}

function byId(left: PoolPosition, right: PoolPosition): number {
  return left.positionId < right.positionId ? -1 : 1;
}

/** Strikes a flat pool with only these parts of the waiting money, by subscription; the rest keeps waiting. */
export function strikeFlatPool(pool: UnitPool, admitted: ReadonlyMap<bigint, bigint> = new Map()): UnitPool {
  const partOf = (subscriptionId: bigint): bigint => admitted.get(subscriptionId) ?? 0n;
  const rest = new Map(pool.holdings.map(({ subscriptionId: id, waiting }) => [id, waiting - partOf(id)]));
  const holdings = pool.holdings.map((holding) => ({ ...holding, waiting: partOf(holding.subscriptionId) }));
  const struck = strikePool({ ...pool, holdings }, []);
  return {
    ...struck,
    holdings: struck.holdings.map((holding) => ({ ...holding, waiting: rest.get(holding.subscriptionId) ?? 0n })),
  };
}
