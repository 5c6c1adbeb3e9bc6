import { masterHref } from "../../app/addresses.ts";
import { Figure } from "../../components/figure.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import { PeriodForm } from "../../components/period-form.tsx";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, ticketColumn, timeColumn } from "../../components/table/columns.tsx";
import { Table } from "../../components/table/table.tsx";
import { useRead } from "../../data/use-read.ts";
import { formatRatio } from "../../formats/decimal.ts";
import type { FoundMaster } from "./find-master.ts";
import { MasterFacts } from "./master-facts.tsx";
import { PerformancePlots } from "./performance-plots.tsx";
import { type Day, type PerformanceOf, readPerformance } from "./read-performance.ts";
import { usePeriod } from "./use-period.ts";
import { ValuedNow } from "./valued-now.tsx";

type Props = {
  readonly login: string;
  readonly query: URLSearchParams;
  readonly master: FoundMaster | undefined;
};

export function Performance({ login, query, master }: Props) {
  const period = usePeriod(query);
  const performance = useRead((client, signal) => readPerformance(client, login, period, signal), {
    keys: [login, period.from, period.to],
    topics: [`login:${login}`],
  });
  return (
    <>
      <PeriodForm
        period={period}
        hrefOf={(chosen) => masterHref(login, "performance", chosen)}
        begin={master?.profile.created_at.slice(0, 10)}
      />
      <Panel read={performance} what="the performance">
        {(found) => (
          <>
            <Figures login={login} {...found} />
            <PerformancePlots days={found.days} />
            <section aria-labelledby="days-title">
              <h2 id="days-title">Results by day</h2>
              <Table
                label="Results by day"
                columns={COLUMNS}
                rows={found.days.toReversed()}
                idOf={({ day }) => day}
                empty="The pool was not valued in this period, and no fee was collected."
              />
              <p class="note">
                A pool is valued by each result, and by its open positions when an Investor joins or leaves. Days
                without either are left out.
              </p>
            </section>
          </>
        )}
      </Panel>
      {master !== undefined && <MasterFacts {...master} />}
    </>
  );
}

function Figures({ login, navPerUnit, poolValue, growth, drawdown, result, fees }: PerformanceOf & { login: string }) {
  return (
    <dl class="figures" aria-label="Figures of the period">
      <Figure name="NAV per unit" value={<Money amount={navPerUnit} />} note="at the end, before fees" />
      <ValuedNow login={login} />
      <Figure name="Pool value" value={<Money amount={poolValue} />} note="after the last valuation" />
      <Figure name="Return" value={growth === null ? "–" : formatRatio(growth)} note="time-weighted" />
      <Figure name="Maximum drawdown" value={formatRatio(drawdown)} note="below the highest value" />
      <Figure name="Results" value={<Money amount={result} />} note="of the Master's deals" />
      <Figure
        name="Fees"
        href={masterHref(login, "fees")}
        value={<Money amount={fees} />}
        note="collected from Investors"
      />
    </dl>
  );
}

const ratioColumn = (title: string, of: (day: Day) => string | null): Column<Day> => ({
  title,
  isNumber: true,
  text: (day) => of(day) ?? "",
  cell: (day) => {
    const ratio = of(day);
    return ratio === null ? "–" : formatRatio(ratio);
  },
});

const COLUMNS: readonly Column<Day>[] = [
  { title: "Day (UTC)", text: ({ day }) => day },
  amountColumn("Result", ({ result }) => result),
  amountColumn("Fees", ({ fees }) => fees),
  amountColumn("NAV per unit", ({ nav_per_unit: nav }) => nav),
  ratioColumn("Change", ({ change }) => change),
  ratioColumn("Drawdown", ({ drawdown }) => drawdown),
  amountColumn("Pool value", ({ pool_value: value }) => value),
  ticketColumn("Last deal", ({ last_deal_id: id }) => id),
  timeColumn("Valued", ({ valued_at: at }) => at),
];
