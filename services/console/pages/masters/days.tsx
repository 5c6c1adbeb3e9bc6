import { useMemo } from "preact/hooks";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, changeColumn, ticketColumn, timeColumn } from "../../components/table/columns.tsx";
import { TableSection } from "../../components/table/table.tsx";
import { PerformancePlots } from "./performance-plots.tsx";
import type { Day } from "./read-performance.ts";

export function Days({ days }: { readonly days: readonly Day[] }) {
  const valued = useMemo(() => days.map((day) => ({ ...day, at: day.day })), [days]);
  return (
    <>
      <PerformancePlots valued={valued} results="Result by day" />
      <TableSection
        title="Results by day"
        columns={COLUMNS}
        rows={days.toReversed()}
        idOf={({ day }) => day}
        empty="The pool was not valued in this period, and no fee was collected."
      >
        <p class="note">
          A pool is valued by each result, and by its open positions at least once an hour and when an Investor joins or
          leaves. Days without a valuation are left out. The drawdown of a day is below the highest value so far.
        </p>
      </TableSection>
    </>
  );
}

const COLUMNS: readonly Column<Day>[] = [
  { title: "Day (UTC)", text: ({ day }) => day },
  amountColumn("Result", ({ result }) => result),
  amountColumn("Fees", ({ fees }) => fees),
  amountColumn("NAV per unit", ({ nav_per_unit: nav }) => nav),
  changeColumn("Change", ({ change }) => change),
  changeColumn("Drawdown", ({ drawdown }) => drawdown),
  amountColumn("Pool value", ({ pool_value: value }) => value),
  ticketColumn("Last deal", ({ last_deal_id: id }) => id),
  timeColumn("Valued", ({ valued_at: at }) => at),
];
