import { useMemo } from "preact/hooks";
import { Panel } from "../../components/panel.tsx";
import type { PlotSeries } from "../../components/plot/points.ts";
import { Plot } from "../../components/plot/plot.tsx";
import { useRead } from "../../data/use-read.ts";
import { formatAmount } from "../../formats/decimal.ts";
import { marksOf, readExplanations } from "./read-marks.ts";

type Explanations = Awaited<ReturnType<typeof readExplanations>>;

/** Each is a request. */
const SHOWN = 26;
const SERIES: readonly PlotSeries[] = [
  { title: "Result", kind: "line", tone: "good", show: formatAmount },
  { title: "High-water mark", kind: "steps", tone: "accent", show: formatAmount },
];

/** How the high-water mark came to be where it is: by the newest payments. */
export function Marks({ paymentIds }: { readonly paymentIds: readonly bigint[] }) {
  const newest = paymentIds.slice(0, SHOWN);
  const explanations = useRead((client, signal) => readExplanations(client, newest, signal), {
    keys: [newest.join()],
  });
  if (newest.length === 0) return null;
  return (
    <Panel read={explanations} what="the high-water marks">
      {(found) => <OfMasters found={found} />}
    </Panel>
  );
}

function OfMasters({ found }: { readonly found: Explanations }) {
  const masters = useMemo(
    () =>
      [...new Set(found.map(({ master_login: login }) => login))]
        .toSorted()
        .map((login) => ({ login, points: marksOf(found, login) })),
    [found],
  );
  return (
    <>
      {masters.map(({ login, points }) => (
        <Plot
          key={login}
          title={`Result and high-water mark with Master ${login}`}
          points={points}
          series={SERIES}
          empty="No calculation of these payments is recorded."
        />
      ))}
    </>
  );
}
