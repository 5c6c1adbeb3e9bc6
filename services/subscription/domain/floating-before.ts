import { isReversal, type MasterDeal, realisedFloating } from "./master-deal.ts";
import type { Mark } from "./pool/strike-pool.ts";
import type { UnitPool } from "./pool/unit-pool.ts";

/**
 * The floating result of a pool's open positions before `dealsSince`, in cents by position: the floating result that
 * the later marks show, plus what those deals realised of it. Positions that were opened since are left out.
 */
export function floatingBefore(
  pool: UnitPool,
  marks: readonly Mark[],
  dealsSince: readonly MasterDeal[],
): ReadonlyMap<bigint, bigint> {
  const shown = new Map(marks.map(({ positionId, floating }) => [positionId, floating]));
  const open = new Map(pool.positions.map(({ positionId }) => [positionId, 0n]));
  const reversed = new Set<bigint>();
  for (const deal of dealsSince) {
    const realised = open.get(deal.positionId);
    if (realised === undefined || reversed.has(deal.positionId)) continue;
    open.set(deal.positionId, realised + realisedFloating(deal));
    // The position that is open after a reversal was opened since.
    if (isReversal(deal)) reversed.add(deal.positionId);
  }
  return new Map([...open].map(([id, realised]) => [id, realised + (reversed.has(id) ? 0n : (shown.get(id) ?? 0n))]));
}
