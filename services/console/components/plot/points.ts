import { compareDecimals, positionOf } from "../../formats/decimal.ts";
import { instantOf, utcText } from "../../formats/time.ts";

/** An instant, or a day, with a value of each series as the API sent it. */
export type PlotPoint = { readonly at: string; readonly values: readonly (string | null)[] };

export type PlotTone = "accent" | "good" | "bad" | "warn";

export type PlotSeries = {
  readonly title: string;
  readonly kind: "line" | "steps" | "bars" | "area";
  readonly tone: PlotTone;
  /** How a value is written. */
  readonly show: (value: string) => string;
};

/** Times in seconds, then the positions of each series: what the canvas needs. */
export type Positions = [times: number[], ...values: (number | null)[][]];

const DAY_LENGTH = 10;
const MS = 1_000;

/** Points in ascending time. */
export function positionsOf(points: readonly PlotPoint[], seriesCount: number): Positions {
  const times = points.map(({ at }) => secondsOf(at));
  const values = Array.from({ length: seriesCount }, (_, index) =>
    points.map((point) => positionOf(point.values[index] ?? null)),
  );
  return [times, ...values];
}

function secondsOf(at: string): number {
  return instantOf(at.length === DAY_LENGTH ? `${at}T00:00:00` : at).getTime() / MS;
}

/** As it is written beside a value: a day stays a day. */
export function timeOf(at: string): string {
  return at.length === DAY_LENGTH ? at : `${utcText(at)} UTC`;
}

/** The drawing in words, for readers of the screen. */
export function summaryOf(title: string, points: readonly PlotPoint[], series: readonly PlotSeries[]): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return `${title}: no values.`;
  const count = points.length === 1 ? "1 value" : `${points.length} values`;
  const sentences = series.map((one, index) => sentenceOf(one, valuesOf(points, index)));
  return `${title}: ${count} from ${timeOf(first.at)} to ${timeOf(last.at)}. ${sentences.join(" ")}`;
}

type Value = { readonly at: string; readonly value: string };

function valuesOf(points: readonly PlotPoint[], index: number): Value[] {
  return points.flatMap(({ at, values }) => {
    const value = values[index];
    return value === null || value === undefined ? [] : [{ at, value }];
  });
}

function sentenceOf({ title, show }: PlotSeries, values: readonly Value[]): string {
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined) return `${title}: no values.`;
  let [lowest, highest] = [first, first];
  for (const one of values) {
    if (orderOf(one.value, lowest.value) < 0) lowest = one;
    if (orderOf(one.value, highest.value) > 0) highest = one;
  }
  const extremes = `lowest ${show(lowest.value)} at ${timeOf(lowest.at)}, highest ${show(highest.value)} at ${timeOf(highest.at)}`;
  return `${title}: first ${show(first.value)}, last ${show(last.value)}, ${extremes}.`;
}

/** Most values differ in their positions, which are compared much faster than digits. */
function orderOf(left: string, right: string): number {
  const distance = (positionOf(left) ?? 0) - (positionOf(right) ?? 0);
  return distance === 0 ? compareDecimals(left, right) : distance;
}
