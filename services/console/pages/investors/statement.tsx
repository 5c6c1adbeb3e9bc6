import { useMemo } from "preact/hooks";
import type { Models } from "../../../client/index.ts";
import { investorHref } from "../../app/addresses.ts";
import { Facts } from "../../components/facts.tsx";
import { Money } from "../../components/money.tsx";
import { PeriodForm } from "../../components/period-form.tsx";
import type { PlotSeries } from "../../components/plot/points.ts";
import { Plot } from "../../components/plot/plot.tsx";
import { ReadState } from "../../components/read-state.tsx";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, ticketColumn, timeColumn } from "../../components/table/columns.tsx";
import { ListSection } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { usePeriod } from "../../data/use-period.ts";
import { formatAmount } from "../../formats/decimal.ts";
import { instantsOf } from "../../formats/period.ts";
import { words } from "../../formats/words.ts";
import { SaveStatement } from "./save-statement.tsx";

type Line = Models["StatementLine"];
type Props = { readonly login: string; readonly query: URLSearchParams };

const SERIES: readonly PlotSeries[] = [{ title: "Balance", kind: "steps", tone: "accent", show: formatAmount }];

const COLUMNS: readonly Column<Line>[] = [
  { title: "Number", isNumber: true, text: ({ number }) => number.toString() },
  timeColumn("Booked", ({ booked_at: at }) => at),
  timeColumn("Time of deal", ({ deal_at: at }) => at),
  { title: "Kind", isWide: true, text: ({ kind }) => words(kind) },
  amountColumn("Amount", ({ amount }) => amount),
  amountColumn("Balance", ({ balance }) => balance),
  ticketColumn("Ticket", ({ deal_id: id }) => id),
  ticketColumn("Transfer", ({ mt5_transfer_id: id }) => id),
];

/** Every movement of a period, oldest first, with the balance after it. */
export function StatementView({ login, query }: Props) {
  const period = usePeriod(query);
  const { from, to } = period;
  const list = useList(
    "getStatement",
    { path: { investor_login: login }, query: instantsOf(period) },
    { topics: [`login:${login}`], limit: 500, isAscending: true, idOf: ({ number }) => number.toString() },
  );
  const points = useMemo(
    () => list.items.map(({ booked_at: at, balance }) => ({ at, values: [balance] })),
    [list.items],
  );
  const end = list.last;
  return (
    <>
      <PeriodForm period={period} hrefOf={(chosen) => investorHref(login, "statement", chosen)} />
      {end === undefined ? (
        <ReadState read={{ ...list, data: end }} what="the statement" />
      ) : (
        <>
          <Plot
            title={list.hasMore ? "Balance, as far as loaded" : "Balance"}
            points={points}
            series={SERIES}
            empty="Nothing was booked in this period."
          />
          <ListSection
            title="Statement"
            label={`Statement ${login}`}
            columns={COLUMNS}
            list={list}
            empty="Nothing was booked in this period."
          >
            <Facts
              isStrip
              facts={[[list.hasMore ? "Balance so far" : "Closing balance", <Money amount={end.closing_balance} />]]}
            />
            <SaveStatement key={`${from} ${to}`} login={login} period={period} />
          </ListSection>
        </>
      )}
    </>
  );
}
