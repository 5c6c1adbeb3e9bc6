import { masterHref } from "../../app/addresses.ts";
import { Figure } from "../../components/figure.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import { PeriodForm } from "../../components/period-form.tsx";
import { usePeriod } from "../../data/use-period.ts";
import { useRead } from "../../data/use-read.ts";
import { formatRatio } from "../../formats/decimal.ts";
import type { Period } from "../../formats/period.ts";
import { Days } from "./days.tsx";
import type { FoundMaster } from "./find-master.ts";
import { MasterFacts } from "./master-facts.tsx";
import { granularityOf, type Granularity } from "./granularity.ts";
import { type PerformanceOf, readPerformance } from "./read-performance.ts";
import { Results } from "./results.tsx";
import { ValuedNow } from "./valued-now.tsx";

type Props = {
  readonly login: string;
  readonly query: URLSearchParams;
  readonly master: FoundMaster | undefined;
};

const GRANULARITIES: readonly { readonly name: Granularity; readonly title: string }[] = [
  { name: "day", title: "By day" },
  { name: "result", title: "By result" },
];

export function Performance({ login, query, master }: Props) {
  const period = usePeriod(query);
  const performance = useRead((client, signal) => readPerformance(client, login, period, signal), {
    keys: [login, period.from, period.to],
    topics: [`login:${login}`],
  });
  const chosen = query.get("by");
  const hrefOf = (one: Period, by = chosen) =>
    masterHref(login, "performance", { ...one, ...(by === null ? {} : { by }) });
  return (
    <>
      <PeriodForm period={period} hrefOf={(one) => hrefOf(one)} begin={master?.created_at.slice(0, 10)} />
      <Panel read={performance} what="the performance">
        {(found) => {
          const by = granularityOf(chosen, found.days);
          return (
            <>
              <Figures login={login} {...found} />
              <nav class="filters" aria-label="Shown by">
                {GRANULARITIES.map(({ name, title }) => (
                  <a key={name} href={hrefOf(period, name)} aria-current={name === by ? "true" : undefined}>
                    {title}
                  </a>
                ))}
              </nav>
              {by === "day" ? <Days days={found.days} /> : <Results login={login} period={period} />}
            </>
          );
        }}
      </Panel>
      {master !== undefined && <MasterFacts {...master} />}
    </>
  );
}

function Figures({ login, navPerUnit, poolValue, growth, drawdown, result, fees }: PerformanceOf & { login: string }) {
  return (
    <dl class="figures" aria-label="Figures of the period">
      <Figure
        name="NAV per unit"
        value={<Money amount={navPerUnit} />}
        note="at the end, open positions included, before fees"
      />
      <ValuedNow login={login} />
      <Figure name="Pool value" value={<Money amount={poolValue} />} note="after the last valuation" />
      <Figure name="Return" value={growth === null ? "–" : formatRatio(growth)} note="time-weighted" />
      <Figure name="Maximum drawdown" value={formatRatio(drawdown)} note="of equity, within the period" />
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
