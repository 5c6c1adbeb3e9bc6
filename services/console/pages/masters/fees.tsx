import { useMemo } from "preact/hooks";
import type { Models } from "../../../client/index.ts";
import { feeRunsHref, masterHref } from "../../app/addresses.ts";
import { paymentColumns } from "../../components/lists/payment-columns.tsx";
import { Panel } from "../../components/panel.tsx";
import { PeriodForm } from "../../components/period-form.tsx";
import type { PlotSeries } from "../../components/plot/points.ts";
import { Plot } from "../../components/plot/plot.tsx";
import { ListSection } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { usePeriod } from "../../data/use-period.ts";
import { useRead } from "../../data/use-read.ts";
import { formatAmount } from "../../formats/decimal.ts";
import { can } from "../../session/session.ts";
import { Credits } from "./credits.tsx";
import { feesByWeek } from "./fees-by-week.ts";
import type { FoundMaster } from "./find-master.ts";
import { type PerformanceOf, readPerformance } from "./read-performance.ts";

type Props = {
  readonly login: string;
  readonly query: URLSearchParams;
  readonly master: FoundMaster | undefined;
};
type Payment = Models["FeePayment"];

const SERIES: readonly PlotSeries[] = [{ title: "Fees", kind: "bars", tone: "accent", show: formatAmount }];

export function MasterFees({ login, query, master }: Props) {
  return (
    <>
      {can("masters:read") && <ByWeek login={login} query={query} master={master} />}
      <Payments login={login} />
      <Credits login={login} />
    </>
  );
}

function ByWeek({ login, query, master }: Props) {
  const period = usePeriod(query);
  const performance = useRead((client, signal) => readPerformance(client, login, period, signal), {
    keys: [login, period.from, period.to],
    topics: ["fees"],
  });
  return (
    <>
      <PeriodForm
        period={period}
        hrefOf={(chosen) => masterHref(login, "fees", chosen)}
        begin={master?.created_at.slice(0, 10)}
      />
      <Panel read={performance} what="the fees of the period">
        {(found) => <Weeks {...found} />}
      </Panel>
    </>
  );
}

function Weeks({ days }: PerformanceOf) {
  const points = useMemo(() => feesByWeek(days), [days]);
  return (
    <>
      <Plot title="Fees by week" points={points} series={SERIES} empty="No fee was collected in this period." />
      <p class="note">By calendar week in which they were collected, from Monday. A fee run is of a fee week.</p>
    </>
  );
}

function Payments({ login }: { readonly login: string }) {
  const columns = useMemo(() => paymentColumns<Payment>(() => login), [login]);
  const list = useList("listFeePayments", { path: { master_login: login } }, { topics: [`login:${login}`] });
  return (
    <ListSection title="Fee payments" columns={columns} list={list} empty="No fee was collected yet.">
      <p class="note">
        <a href={feeRunsHref({ master_login: login })}>By run</a>
      </p>
    </ListSection>
  );
}
