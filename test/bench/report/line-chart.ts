import type { LineChart } from "../section.ts";
import { type At, colourOf, dot, endOfAxis, gridLine, legend, picture, polyline, text, WIDTH } from "./svg.ts";

const HEIGHT = 360;
const LEFT = 64;
const RIGHT = WIDTH - 176;
const TOP = 48;
const BOTTOM = HEIGHT - 48;
const TICKS = 5;
/** Few values of x, such as 1, 8 and 64 callers, are evenly spaced and have dots; many are a scale. */
const MAX_SPACED = 8;

export function lineChart({ title, x, y, series }: LineChart): string {
  const points = series.flatMap((each) => each.points);
  const horizontal = horizontalAxis(points.map((point) => point.x));
  const end = endOfAxis(Math.max(...points.map((point) => point.y)));
  const down = (value: number): number => BOTTOM - (value / end) * (BOTTOM - TOP);
  const drawn = series.flatMap((each, index) => {
    const path = each.points.map((point): At => ({ x: horizontal.place(point.x), y: down(point.y) }));
    const dots = horizontal.isSpaced ? path.map((at) => dot(at, colourOf(index))) : [];
    return [polyline(path, colourOf(index)), ...dots];
  });
  return picture(HEIGHT, title, [
    ...parts(end).flatMap((value) => [
      gridLine({ x: LEFT, y: down(value) }, { x: RIGHT, y: down(value) }),
      text({ x: LEFT - 8, y: down(value) + 4 }, mark(value), { anchor: "end" }),
    ]),
    ...horizontal.marks.map(({ value, name }) =>
      text({ x: horizontal.place(value), y: BOTTOM + 20 }, name, { anchor: "middle" }),
    ),
    text({ x: (LEFT + RIGHT) / 2, y: HEIGHT - 8 }, x, { anchor: "middle" }),
    text({ x: LEFT, y: TOP - 12 }, y),
    ...drawn,
    ...legend(
      { x: RIGHT + 16, y: TOP },
      series.map(({ name }) => name),
    ),
  ]);
}

type Axis = {
  readonly isSpaced: boolean;
  readonly place: (value: number) => number;
  readonly marks: readonly { readonly value: number; readonly name: string }[];
};

function horizontalAxis(all: readonly number[]): Axis {
  const values = [...new Set(all)].toSorted((one, other) => one - other);
  const isSpaced = values.length <= MAX_SPACED;
  const end = values.at(-1) ?? 1;
  const share = (value: number): number =>
    isSpaced ? values.indexOf(value) / Math.max(1, values.length - 1) : value / end;
  const marks = isSpaced
    ? values.map((value) => ({ value, name: String(value) }))
    : parts(end).map((value) => ({ value, name: mark(value) }));
  return { isSpaced, marks, place: (value) => LEFT + share(value) * (RIGHT - LEFT) };
}

function parts(end: number): number[] {
  return Array.from({ length: TICKS + 1 }, (_, index) => (end * index) / TICKS);
}

function mark(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 2 });
}
