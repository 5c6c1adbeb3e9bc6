import type { ResultEvent, WeekEvent } from "../../domain/advance-pool.ts";
import type { MasterDeal } from "../../domain/master-deal.ts";
import type { Valuation } from "../../domain/performance.ts";
import { valueOfUnits } from "../../domain/pool/equity.ts";
import { type Mark, valuePositions } from "../../domain/pool/strike-pool.ts";
import type { E8, UnitPool } from "../../domain/pool/unit-pool.ts";
import { allHoldings, totalUnits } from "../../domain/pool/units.ts";

/** What of the events of a pool its value depends on. */
export type ValuedEvent =
  | Pick<WeekEvent, "kind">
  | (Pick<ResultEvent, "kind" | "before" | "pool"> & {
      readonly deal: Pick<MasterDeal, "dealAt" | "dealId" | "amount">;
    });

/** How results have changed the value of the units of a pool. */
export function valuationsOf(events: readonly ValuedEvent[]): Valuation[] {
  let known: { readonly pool: UnitPool; readonly value: E8 } | undefined;
  const valueOf = (pool: UnitPool): E8 => {
    if (known?.pool !== pool) known = { pool, value: valueOfUnits(pool) };
    return known.value;
  };
  return events.flatMap((event) => {
    if (event.kind === "week") return [];
    const { dealAt: at, dealId, amount: result } = event.deal;
    const before = valueOf(event.before);
    const after = valueOf(event.pool);
    return [{ at, dealId, before, after, ...factsOf(event.pool), result }];
  });
}

/** How the marks of the open positions change the value of the units of a pool. */
export function valuationsOfMarks(
  pool: UnitPool,
  marks: readonly Mark[],
  { at, dealId }: Pick<Valuation, "at" | "dealId">,
): Valuation[] {
  if (marks.length === 0) return [];
  const after = valueOfUnits(valuePositions(pool, marks));
  return [{ at, dealId, before: valueOfUnits(pool), after, ...factsOf(pool), result: 0n }];
}

function factsOf(pool: UnitPool): Pick<Valuation, "units" | "isOpen"> {
  return { units: totalUnits(allHoldings(pool)), isOpen: pool.positions.length > 0 };
}
