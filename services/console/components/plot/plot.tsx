import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { shownScheme } from "../../app/scheme.ts";
import type { Column } from "../table/column.ts";
import { Table } from "../table/table.tsx";
import type { Drawing } from "./draw.ts";
import { type PlotPoint, type PlotSeries, positionsOf, summaryOf, timeOf } from "./points.ts";

type Props = {
  readonly title: string;
  /** In ascending time. The same array as long as nothing has changed. */
  readonly points: readonly PlotPoint[];
  /** A constant: it is drawn anew when it changes. */
  readonly series: readonly PlotSeries[];
  readonly axis?: "amount" | "ratio";
  /** What it means that there is no point. */
  readonly empty: string;
};

/** A drawing to look at, and its values as a table. */
export function Plot({ title, points, series, axis = "amount", empty }: Props) {
  const [isTable, setTable] = useState(false);
  const [index, setIndex] = useState<number | undefined>(undefined);
  const summary = useMemo(() => summaryOf(title, points, series), [points, series]);
  const shown = (index === undefined ? undefined : points[index]) ?? points.at(-1);
  if (shown === undefined) {
    return (
      <figure class="plot">
        <figcaption>{title}</figcaption>
        <p class="empty">{empty}</p>
      </figure>
    );
  }
  return (
    <figure class="plot">
      <header>
        <figcaption>{title}</figcaption>
        <button type="button" class="plain" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          <span class="hidden">{title} as a </span>Table
        </button>
      </header>
      {isTable ? (
        <Values title={title} points={points} series={series} />
      ) : (
        <>
          <p class="readout">
            <span>{timeOf(shown.at)}</span>
            {series.map((one, position) => (
              <span key={one.title} class={`swatch ${one.tone}`}>
                {one.title} <strong>{textOf(one, shown.values[position])}</strong>
              </span>
            ))}
          </p>
          <Canvas summary={summary} points={points} series={series} axis={axis} setIndex={setIndex} />
        </>
      )}
    </figure>
  );
}

type CanvasProps = Required<Pick<Props, "points" | "series" | "axis">> & {
  readonly summary: string;
  readonly setIndex: (index: number | undefined) => void;
};

/** The code that draws is loaded when there is something to draw. */
function Canvas({ summary, points, series, axis, setIndex }: CanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | undefined>(undefined);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    let isEnded = false;
    import("./draw.ts").then(
      ({ draw }) => {
        if (isEnded || host.current === null) return;
        const positions = positionsOf(points, series.length);
        drawing.current = draw(host.current, { series, positions, axis, point: setIndex });
      },
      () => setFailed(true),
    );
    return () => {
      isEnded = true;
      drawing.current?.end();
      drawing.current = undefined;
      setIndex(undefined);
    };
  }, [points, series, axis]);

  const drawnScheme = shownScheme.value;
  useEffect(() => drawing.current?.redraw(), [drawnScheme]);

  return (
    <>
      <div class="canvas" ref={host} role="img" aria-label={summary} />
      {hasFailed && <p class="note">It could not be drawn. The table has its values.</p>}
    </>
  );
}

/** The values behind the drawing, newest first. */
function Values({ title, points, series }: Pick<Props, "title" | "points" | "series">) {
  const rows = useMemo(() => points.map((point, number) => ({ ...point, number })).toReversed(), [points]);
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { title: "Time", text: ({ at }) => at, cell: ({ at }) => timeOf(at) },
    ...series.map((one, position) => ({
      title: one.title,
      isNumber: true,
      text: ({ values }: PlotPoint) => values[position] ?? "",
      cell: ({ values }: PlotPoint) => textOf(one, values[position]),
    })),
  ];
  return <Table label={title} columns={columns} rows={rows} idOf={({ number }) => String(number)} empty="No values." />;
}

function textOf({ show }: PlotSeries, value: string | null | undefined): string {
  return value === null || value === undefined ? "–" : show(value);
}
