import { useMemo } from "preact/hooks";
import type { PlotSeries } from "../../components/plot/points.ts";
import { Plot } from "../../components/plot/plot.tsx";
import { formatRatio } from "../../formats/decimal.ts";
import { formatAmount } from "../../formats/money.ts";
import type { Day } from "./read-performance.ts";

const NAV: readonly PlotSeries[] = [{ title: "NAV per unit", kind: "line", tone: "accent", show: formatAmount }];
const VALUE: readonly PlotSeries[] = [{ title: "Pool value", kind: "area", tone: "accent", show: formatAmount }];
const DRAWDOWN: readonly PlotSeries[] = [{ title: "Drawdown", kind: "area", tone: "bad", show: formatRatio }];
const RESULT: readonly PlotSeries[] = [{ title: "Result", kind: "bars", tone: "accent", show: formatAmount }];

const EMPTY = "The pool was not valued in this period.";

export function PerformancePlots({ days }: { readonly days: readonly Day[] }) {
  const points = useMemo(() => {
    const of = (value: (day: Day) => string | null) =>
      days.flatMap((day) => {
        const own = value(day);
        return own === null ? [] : [{ at: day.day, values: [own] }];
      });
    return {
      nav: of(({ nav_per_unit: nav }) => nav),
      value: of(({ pool_value: value }) => value),
      drawdown: of(({ drawdown }) => below(drawdown)),
      result: of(({ result, nav_per_unit: nav }) => (nav === null ? null : result)),
    };
  }, [days]);
  return (
    <div class="plots">
      <Plot title="NAV per unit" points={points.nav} series={NAV} empty={EMPTY} />
      <Plot title="Pool value" points={points.value} series={VALUE} empty={EMPTY} />
      <Plot title="Drawdown" points={points.drawdown} series={DRAWDOWN} axis="ratio" empty={EMPTY} />
      <Plot title="Result by day" points={points.result} series={RESULT} empty={EMPTY} />
    </div>
  );
}

/** A fall is drawn downwards. */
function below(drawdown: string | null): string | null {
  return drawdown === null || !/[1-9]/.test(drawdown) ? drawdown : `-${drawdown}`;
}
