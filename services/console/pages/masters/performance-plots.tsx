import { useMemo } from "preact/hooks";
import type { PlotSeries } from "../../components/plot/points.ts";
import { Plot } from "../../components/plot/plot.tsx";
import { formatAmount, formatRatio } from "../../formats/decimal.ts";

/** What a day, or a result, has left. */
export type Valued = {
  /** A day, or the instant of a deal. */
  readonly at: string;
  readonly nav_per_unit: string | null;
  readonly pool_value: string | null;
  readonly drawdown: string | null;
  readonly result: string;
};

const NAV: readonly PlotSeries[] = [{ title: "NAV per unit", kind: "line", tone: "accent", show: formatAmount }];
const VALUE: readonly PlotSeries[] = [{ title: "Pool value", kind: "area", tone: "accent", show: formatAmount }];
const DRAWDOWN: readonly PlotSeries[] = [{ title: "Drawdown", kind: "area", tone: "bad", show: formatRatio }];
const RESULT: readonly PlotSeries[] = [{ title: "Result", kind: "bars", tone: "accent", show: formatAmount }];

const EMPTY = "The pool was not valued in this period.";

type Props = {
  /** In ascending time. The same array as long as nothing has changed. */
  readonly valued: readonly Valued[];
  readonly results: string;
};

export function PerformancePlots({ valued, results }: Props) {
  const points = useMemo(() => {
    const of = (value: (one: Valued) => string | null) =>
      valued.flatMap((one) => {
        const own = value(one);
        return own === null ? [] : [{ at: one.at, values: [own] }];
      });
    return {
      nav: of(({ nav_per_unit: nav }) => nav),
      value: of(({ pool_value: value }) => value),
      drawdown: of(({ drawdown }) => below(drawdown)),
      result: of(({ result, nav_per_unit: nav }) => (nav === null ? null : result)),
    };
  }, [valued]);
  return (
    <div class="plots">
      <Plot title="NAV per unit" points={points.nav} series={NAV} empty={EMPTY} />
      <Plot title="Pool value" points={points.value} series={VALUE} empty={EMPTY} />
      <Plot title="Drawdown" points={points.drawdown} series={DRAWDOWN} axis="ratio" empty={EMPTY} />
      <Plot title={results} points={points.result} series={RESULT} empty={EMPTY} />
    </div>
  );
}

/** A fall is drawn downwards. */
function below(drawdown: string | null): string | null {
  return drawdown === null || !/[1-9]/.test(drawdown) ? drawdown : `-${drawdown}`;
}
