import { isReversal, type MasterDeal, realisedFloating } from "./master-deal.ts";
import type { Mark } from "./pool/strike-pool.ts";
import type { UnitPool } from "./pool/unit-pool.ts";

/**
 * What the open positions of a pool were worth at its place in the deal order, seen from a little later: what they show
 * now and what deals since have realised of them. Positions that were opened since are left out.
 */
export function floatingAtPlace(
  pool: UnitPool,
  marks: readonly Mark[],
  dealsSince: readonly MasterDeal[],
): ReadonlyMap<bigint, bigint> {
  const shown = new Map(marks.map(({ positionId, floating }) => [positionId, floating]));
  const open = new Map(pool.positions.map(({ positionId }) => [positionId, 0n]));
  const turned = new Set<bigint>();
  for (const deal of dealsSince) {
    const realised = open.get(deal.positionId);
    if (realised === undefined || turned.has(deal.positionId)) continue;
    open.set(deal.positionId, realised + realisedFloating(deal));
    // What is open after a reversal is another position, opened since.
    if (isReversal(deal)) turned.add(deal.positionId);
  }
  return new Map([...open].map(([id, realised]) => [id, realised + (turned.has(id) ? 0n : (shown.get(id) ?? 0n))]));
}
