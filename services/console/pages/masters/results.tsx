import { useMemo } from "preact/hooks";
import type { Models } from "../../../client/index.ts";
import { Loading } from "../../components/loading.tsx";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, changeColumn, ticketColumn, timeColumn } from "../../components/table/columns.tsx";
import { ListSection } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { instantsOf, type Period } from "../../formats/period.ts";
import { PerformancePlots } from "./performance-plots.tsx";
import { inTimeOfDeals } from "./in-time-of-deals.ts";

type Result = Models["MasterResult"];

/** Each result with what it has left: as fine as the performance is. */
export function Results({ login, period }: { readonly login: string; readonly period: Period }) {
  const list = useList(
    "listResults",
    { path: { master_login: login }, query: instantsOf(period) },
    { topics: [`login:${login}`], limit: 500, idOf: ({ number }) => number.toString() },
  );
  const valued = useMemo(() => inTimeOfDeals(list.items), [list.items]);
  return (
    <>
      {list.last === undefined && list.isLoading && <Loading what="the results" />}
      <PerformancePlots valued={valued} results="Result of each deal" />
      <ListSection title="Results" columns={COLUMNS} list={list} empty="No result was allocated in this period.">
        <p class="note">
          By when they were allocated. {list.hasMore ? `The newest ${list.items.length} are drawn: ` : ""}
          {list.hasMore && "earlier ones follow as the table is scrolled. "}
          Other open positions count as they were valued last.
        </p>
      </ListSection>
    </>
  );
}

const COLUMNS: readonly Column<Result>[] = [
  timeColumn("Deal", ({ deal_at: at }) => at),
  amountColumn("Result", ({ result }) => result),
  amountColumn("NAV per unit", ({ nav_per_unit: nav }) => nav),
  changeColumn("Drawdown", ({ drawdown }) => drawdown),
  amountColumn("Pool value", ({ pool_value: value }) => value),
  ticketColumn("Ticket", ({ deal_id: id }) => id),
  timeColumn("Allocated", ({ allocated_at: at }) => at),
];
