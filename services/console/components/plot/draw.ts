import uPlot from "uplot";
import type { PlotSeries, PlotTone, Positions } from "./points.ts";
import { timeTicks, valueTicks } from "./ticks.ts";

type Options = {
  readonly series: readonly PlotSeries[];
  readonly positions: Positions;
  readonly axis: "amount" | "ratio";
  /** The point below the pointer; undefined when it has left. */
  readonly point: (index: number | undefined) => void;
};

export type Drawing = {
  /** With the colours as they are now. */
  readonly redraw: () => void;
  readonly end: () => void;
};

const HEIGHT_PX = 200;
const NARROW_PX = 220;
const CHARACTER_PX = 7;
const HALF_DAY_S = 43_200;
const FONT = "12px system-ui, sans-serif";
/** Opacity of an area, as the last two digits of a colour. */
const FAINT = "26";

/** Draws on a canvas within the element, as wide as it is. */
export function draw(host: HTMLElement, { series, positions, axis, point }: Options): Drawing {
  const hasBars = series.some(({ kind }) => kind === "bars");
  const besideS = hasBars ? halfStepOf(positions[0]) : 0;
  const fromZero = series.some(({ kind }) => kind === "bars" || kind === "area");
  const lines = { stroke: () => colour("--line"), width: 1 };
  const common = { stroke: () => colour("--quiet"), font: FONT, grid: lines, ticks: { ...lines, size: 4 } };
  const plot = new uPlot(
    {
      width: widthOf(host),
      height: HEIGHT_PX,
      // Half a text of the last tick.
      padding: [10, 34, 0, 0],
      legend: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), "UTC"),
      cursor: { y: false, drag: { x: true, y: false }, points: { size: 7 } },
      scales: {
        x: { range: (_, from, to) => timesShown(positions[0], [from, to], besideS) },
        y: { range: (_, from, to) => valuesShown(from, to, fromZero) },
      },
      // The second argument of both is the positions of the ticks, the fifth their distance.
      axes: [
        { ...common, space: 90, values: (...given) => timeTicks(given[1], given[4]) },
        {
          ...common,
          values: (...given) => valueTicks(axis, given[1], given[4]),
          size: (_, texts) => Math.max(36, ...(texts ?? []).map((text) => text.length * CHARACTER_PX + 14)),
        },
      ],
      series: [{}, ...series.map(lineOf)],
      hooks: { setCursor: [({ cursor: { idx } }) => point(idx ?? undefined)] },
    },
    positions,
    host,
  );
  const observer = new ResizeObserver(() => {
    const width = widthOf(host);
    if (width !== plot.width) plot.setSize({ width, height: HEIGHT_PX });
  });
  observer.observe(host);
  return {
    redraw: () => plot.redraw(false, true),
    end: () => {
      observer.disconnect();
      plot.destroy();
    },
  };
}

function lineOf({ title, kind, tone }: PlotSeries): uPlot.Series {
  const stroke = () => colour(TONES[tone]);
  const base = { label: title, stroke, width: 1.5, spanGaps: true };
  if (kind === "bars") return { ...base, width: 0, fill: stroke, paths: barPaths, points: { show: false } };
  if (kind === "steps") return { ...base, paths: stepPaths };
  return kind === "area" ? { ...base, fill: () => stroke() + FAINT } : base;
}

const barPaths = uPlot.paths.bars?.({ size: [0.7, 24, 1] }) ?? (() => null);
const stepPaths = uPlot.paths.stepped?.({ align: 1 }) ?? (() => null);

const TONES: Readonly<Record<PlotTone, string>> = {
  accent: "--accent",
  good: "--good",
  bad: "--bad",
  warn: "--warn",
};

/** A colour of the styles, as the colour scheme has it now. */
function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function widthOf(host: HTMLElement): number {
  return Math.max(NARROW_PX, host.clientWidth);
}

/** A single instant has a day around it, where uPlot would have years after it. The first and the last bar are whole. */
function timesShown(
  times: readonly number[],
  [from, to]: readonly [number, number],
  besideS: number,
): [number, number] {
  const [only] = times;
  if (times.length === 1 && only !== undefined) return [only - HALF_DAY_S, only + HALF_DAY_S];
  return [from - besideS, to + besideS];
}

/** Half of what is between the two times that are closest. */
function halfStepOf(times: readonly number[]): number {
  let stepS = Infinity;
  for (let index = 1; index < times.length; index += 1) {
    stepS = Math.min(stepS, (times[index] ?? 0) - (times[index - 1] ?? 0));
  }
  return Number.isFinite(stepS) ? stepS / 2 : HALF_DAY_S;
}

function valuesShown(from: number | null, to: number | null, fromZero: boolean): [number, number] {
  if (from === null || to === null) return [0, 1];
  const [low, high] = fromZero ? [Math.min(0, from), Math.max(0, to)] : [from, to];
  const [shownLow, shownHigh] = uPlot.rangeNum(low, high, 0.1, true);
  return [shownLow ?? low, shownHigh ?? high];
}
