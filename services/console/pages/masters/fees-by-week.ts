import { addDecimals, isZero } from "../../formats/decimal.ts";
import { mondayOf } from "../../formats/period.ts";
import type { PlotPoint } from "../../components/plot/points.ts";

type Fees = { readonly day: string; readonly fees: string };

/** The fees of each week that had any, by its Monday; ascending as the days are. */
export function feesByWeek(days: readonly Fees[]): readonly PlotPoint[] {
  const weeks = Map.groupBy(days, ({ day }) => mondayOf(day));
  return Array.from(weeks, ([at, some]) => ({ at, values: [addDecimals(some.map(({ fees }) => fees))] })).filter(
    ({ values: [sum] }) => sum !== undefined && !isZero(sum),
  );
}
