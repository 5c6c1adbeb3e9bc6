import { useMemo } from "preact/hooks";
import type { Models } from "../../../client/index.ts";
import { ReadState } from "../../components/read-state.tsx";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, changeColumn, ticketColumn, timeColumn } from "../../components/table/columns.tsx";
import { ListTable } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { instantsOf, type Period } from "../../formats/period.ts";
import { PerformancePlots } from "./performance-plots.tsx";
import { inTimeOfDeals } from "./in-time-of-deals.ts";

type Result = Models["MasterResult"];

/** Of one request. */
const LIMIT = 500;

/** Each result with what it has left: as fine as the performance is. */
export function Results({ login, period }: { readonly login: string; readonly period: Period }) {
  const list = useList({
    keys: [login, period.from, period.to],
    topics: [`login:${login}`],
    idOf: ({ number }: Result) => number.toString(),
    page: (client, cursor: string | undefined, signal) => {
      const query = { ...instantsOf(period), limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) };
      return client.query("listResults", { path: { master_login: login }, query }, { signal });
    },
  });
  const valued = useMemo(() => inTimeOfDeals(list.items), [list.items]);
  return (
    <>
      <ReadState read={{ ...list, data: list.last }} what="the results" />
      <PerformancePlots valued={valued} results="Result of each deal" />
      <section aria-labelledby="results-title">
        <h2 id="results-title">Results</h2>
        <ListTable
          label="Results"
          columns={COLUMNS}
          list={list}
          idOf={({ number }) => number.toString()}
          empty="No result was allocated in this period."
        />
        <p class="note">
          By when they were allocated. {list.hasMore ? `The newest ${list.items.length} are drawn: ` : ""}
          {list.hasMore && "earlier ones follow as the table is scrolled. "}
          Other open positions count as they were valued last.
        </p>
      </section>
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
