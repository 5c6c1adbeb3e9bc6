import type { BarChart } from "../section.ts";
import { number } from "./format.ts";
import { box, colourOf, endOfAxis, legend, legendHeight, picture, text, WIDTH } from "./svg.ts";

const LEFT = 124;
const LEGEND = WIDTH - 160;
/** Left of the legend there is room for the sum of the longest bar. */
const RIGHT = LEGEND - 64;
const TOP = 48;
const BAR = 26;
const ROW = BAR + 14;

export function barChart({ title, unit, bars }: BarChart): string {
  const names = [...new Set(bars.flatMap(({ parts }) => Object.keys(parts)))];
  const sums = bars.map(({ parts }) => Object.values(parts).reduce((sum, part) => sum + part, 0));
  const scale = (RIGHT - LEFT) / endOfAxis(Math.max(...sums));
  const drawn = bars.flatMap(({ name, parts }, row) => {
    const y = TOP + row * ROW;
    let x = LEFT;
    const pieces = names.map((part, index) => {
      const width = (parts[part] ?? 0) * scale;
      const piece = box({ x, y }, { width, height: BAR }, colourOf(index));
      x += width;
      return piece;
    });
    const label = text({ x: LEFT - 8, y: y + 18 }, name, { anchor: "end" });
    return [...pieces, label, text({ x: x + 6, y: y + 18 }, number(sums[row] ?? 0))];
  });
  const height = TOP + Math.max(bars.length * ROW, legendHeight(names)) + 16;
  return picture(height, title, [
    ...drawn,
    text({ x: LEFT, y: TOP - 12 }, unit),
    ...legend({ x: LEGEND, y: TOP + 9 }, names),
  ]);
}
