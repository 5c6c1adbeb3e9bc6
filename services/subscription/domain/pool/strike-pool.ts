import { accruedIn, changeUnits } from "./accruals.ts";
import { netAssetValue } from "./equity.ts";
import { floorDivide } from "./rounding.ts";
import { runFlows } from "./run-flows.ts";
import { allHoldings, sharingHoldings, totalUnits, withHoldings } from "./units.ts";
import {
  E8_PER_CENT,
  OWN_CAPITAL,
  PoolBroken,
  type PoolPosition,
  SCALE,
  type UnitHolding,
  type UnitPool,
} from "./unit-pool.ts";

/** An open position of the Master as the platform shows it. */
export type Mark = {
  readonly positionId: bigint;
  /** Lots in units of 1e-8. */
  readonly volume: bigint;
  /** Profit and swap so far, in cents. */
  readonly floating: bigint;
};

/**
 * Issues units for waiting money and redeems units of outflows at the current value of a unit. The floating result is
 * first attributed to the holdings that earned it, before any holding joins or leaves. `marks` are all open positions
 * of the Master, none when it is flat. While positions are open and the units are worth nothing, no flow is struck. Without a flow units that
 * are worth nothing stay: a withdrawal that is refused in a deficit must not take those by which the next result is shared.
 */
export function strikePool(pool: UnitPool, marks: readonly Mark[]): UnitPool {
  const marked = markPositions(pool, marks);
  const accrued = accruedIn(marked);
  const flat = marked.positions.length === 0;
  const all = allHoldings(marked);
  const price = { units: totalUnits(all), value: netAssetValue(all, accrued) };
  const hasFlow = all.some(({ waiting, unredeemed }) => waiting !== 0n || unredeemed !== 0n);
  if (price.units > 0n && price.value <= 0n && !(flat && hasFlow)) return marked;
  return changeUnits(marked, runFlows(all, { price, accrued, flat }));
}

/** The pool with its floating result attributed as of these marks. */
export function markPositions(pool: UnitPool, marks: readonly Mark[]): UnitPool {
  const known = new Map(pool.positions.map((position) => [position.positionId, position]));
  const units = totalUnits(sharingHoldings(allHoldings(pool)));
  const positions = marks.map((mark) => {
    const position = known.get(mark.positionId);
    known.delete(mark.positionId);
    return markPosition(mark, position, units);
  });
  const missing = new Set(known.keys());
  if (missing.size > 0) assertNothingAttributed(pool, missing);
  return { ...pool, positions: positions.sort(byId) };
}

/** The pool as it is valued at these marks. Nothing is attributed: what a holding has, and the next strike, are the same as before. */
export function valuePositions(pool: UnitPool, marks: readonly Mark[]): UnitPool {
  const floating = new Map(marks.map((mark) => [mark.positionId, mark.floating * E8_PER_CENT * SCALE]));
  return {
    ...pool,
    positions: pool.positions.map((each) => ({ ...each, valued: floating.get(each.positionId) ?? each.valued })),
  };
}

/** The pool with its floating result attributed as it was valued last. */
export function attributeValued(pool: UnitPool): UnitPool {
  const units = totalUnits(sharingHoldings(allHoldings(pool)));
  const positions = pool.positions.map((each) => {
    return { ...each, mark: each.valued, perUnit: each.perUnit + floorDivide(each.valued - each.mark, units) };
  });
  return { ...pool, positions };
}

/** A position that the books do not contain has no attributed result yet. */
function markPosition(mark: Mark, position: PoolPosition | undefined, units: bigint): PoolPosition {
  const floating = mark.floating * E8_PER_CENT * SCALE;
  const earned = floating - (position?.mark ?? 0n);
  return {
    positionId: mark.positionId,
    volume: mark.volume,
    mark: floating,
    perUnit: (position?.perUnit ?? 0n) + floorDivide(earned, units),
    valued: floating,
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

/** The flows that one strike of a flat pool admits; the others keep waiting. */
export type AdmittedFlows = {
  /** Cents of the waiting money, by holding. */
  readonly inflows?: ReadonlyMap<bigint, bigint>;
  /** Cents of the outflows of own capital. Those of Investors are all admitted: their order in the log does not matter. */
  readonly ownOutflow?: bigint;
};

/** Strikes a flat pool with only these flows. An outflow that is not admitted counts as if it were still in the pool. */
export function strikeFlatPool(pool: UnitPool, { inflows = new Map(), ownOutflow = 0n }: AdmittedFlows = {}): UnitPool {
  const later = new Map(
    allHoldings(pool).map(({ subscriptionId: id, waiting, unredeemed }): [bigint, Later] => [
      id,
      { waiting: waiting - (inflows.get(id) ?? 0n), unredeemed: id === OWN_CAPITAL ? unredeemed - ownOutflow : 0n },
    ]),
  );
  const withLater = (holding: UnitHolding, sign: bigint): UnitHolding => {
    const { waiting, unredeemed } = later.get(holding.subscriptionId) ?? { waiting: 0n, unredeemed: 0n };
    return {
      ...holding,
      pooled: holding.pooled - sign * unredeemed,
      waiting: holding.waiting + sign * waiting,
      unredeemed: holding.unredeemed + sign * unredeemed,
    };
  };
  const admitted = withHoldings(
    pool,
    allHoldings(pool).map((holding) => withLater(holding, -1n)),
  );
  const struck = strikePool(admitted, []);
  return withHoldings(
    struck,
    allHoldings(struck).map((holding) => withLater(holding, 1n)),
  );
}

type Later = { readonly waiting: bigint; readonly unredeemed: bigint };
