import type { BarChart, Chart, LineChart } from "../section.ts";
import { number } from "./format.ts";

const WIDTH = 720;
const HEIGHT = 360;
const MARGIN = { left: 64, right: 176, top: 44, bottom: 48 };
const TICKS = 5;
const BAR_HEIGHT = 26;
const BAR_GAP = 14;
/** Colours that differ in lightness too, and are legible on white and on black. */
const COLOURS = ["#3b82c4", "#d9772b", "#3f9c5a", "#b5539c", "#8a7a2f", "#d04a4a", "#4fa3a5", "#8c6bd1", "#7d8590"];
/** Grey text is legible on both backgrounds, so the picture needs none of its own. */
const TEXT = "#7d8590";
const GRID = "#7d859055";

/** A picture of a chart, legible on a light and on a dark page. */
export function svgOf(chart: Chart): string {
  return chart.kind === "lines" ? lines(chart) : bars(chart);
}

function lines({ title, x, y, series }: LineChart): string {
  const points = series.flatMap((each) => each.points);
  const xs = [...new Set(points.map((point) => point.x))].toSorted((one, other) => one - other);
  const top = niceMaximum(Math.max(...points.map((point) => point.y)));
  const isSpaced = xs.length <= 8;
  // Few numbers of callers, such as 1, 8 and 64, are evenly spaced; many points are a time.
  const share = (value: number): number =>
    isSpaced ? xs.indexOf(value) / Math.max(1, xs.length - 1) : (value - xs[0]!) / Math.max(1e-9, xs.at(-1)! - xs[0]!);
  const left = (value: number): number => MARGIN.left + share(value) * (WIDTH - MARGIN.left - MARGIN.right);
  const down = (value: number): number => HEIGHT - MARGIN.bottom - (value / top) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => (top * index) / TICKS);
  const marks = isSpaced ? xs : Array.from({ length: TICKS + 1 }, (_, index) => xs[0]! + ((xs.at(-1)! - xs[0]!) * index) / TICKS);
  const axis = [
    ...ticks.map((value) => line(MARGIN.left, down(value), WIDTH - MARGIN.right, down(value), GRID)),
    ...ticks.map((value) => text(MARGIN.left - 8, down(value) + 4, number(value), "end")),
    ...marks.map((value) => text(left(value), HEIGHT - MARGIN.bottom + 20, isSpaced ? String(value) : number(value), "middle")),
    text((MARGIN.left + WIDTH - MARGIN.right) / 2, HEIGHT - 8, x, "middle"),
    text(MARGIN.left, MARGIN.top - 12, y, "start"),
  ];
  const drawn = series.flatMap((each, index) => {
    const colour = colourOf(index);
    const path = each.points.map((point) => `${left(point.x).toFixed(1)},${down(point.y).toFixed(1)}`).join(" ");
    const dots = each.points.map((point) => circle(left(point.x), down(point.y), isSpaced ? 3.5 : 1, colour));
    return [`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`, ...dots];
  });
  return picture(HEIGHT, title, [...axis, ...drawn, ...legend(series.map(({ name }) => name))]);
}

function bars({ title, unit, bars: all }: BarChart): string {
  const names = [...new Set(all.flatMap(({ parts }) => Object.keys(parts)))];
  const totals = all.map(({ parts }) => Object.values(parts).reduce((sum, part) => sum + part, 0));
  const top = niceMaximum(Math.max(...totals));
  const height = Math.max(MARGIN.top + all.length * (BAR_HEIGHT + BAR_GAP) + MARGIN.bottom, MARGIN.top + names.length * 20 + 16);
  const scale = (WIDTH - MARGIN.left - MARGIN.right - 60) / top;
  const start = MARGIN.left + 60;
  const drawn = all.flatMap(({ name, parts }, row) => {
    const down = MARGIN.top + row * (BAR_HEIGHT + BAR_GAP);
    let left = start;
    const pieces = names.map((part, index) => {
      const width = (parts[part] ?? 0) * scale;
      const piece = `<rect x="${left.toFixed(1)}" y="${down}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" fill="${colourOf(index)}"/>`;
      left += width;
      return piece;
    });
    return [...pieces, text(start - 8, down + 18, name, "end"), text(left + 6, down + 18, number(totals[row] ?? 0), "start")];
  });
  const caption = text(start, MARGIN.top - 12, unit, "start");
  return picture(height, title, [...drawn, caption, ...legend(names)]);
}

function picture(height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="system-ui, sans-serif" font-size="12" role="img">`,
    `<title>${escape(title)}</title>`,
    text(8, 18, title, "start", 'font-weight="600" font-size="14"'),
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

function legend(names: readonly string[]): string[] {
  const left = WIDTH - MARGIN.right + 16;
  return names.flatMap((name, index) => {
    const down = MARGIN.top + index * 20;
    return [
      `<rect x="${left}" y="${down - 9}" width="11" height="11" fill="${colourOf(index)}"/>`,
      text(left + 18, down + 1, name, "start"),
    ];
  });
}

function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length] ?? TEXT;
}

function line(fromX: number, fromY: number, toX: number, toY: number, colour: string): string {
  return `<line x1="${fromX}" y1="${fromY.toFixed(1)}" x2="${toX}" y2="${toY.toFixed(1)}" stroke="${colour}"/>`;
}

function circle(x: number, y: number, radius: number, colour: string): string {
  return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius}" fill="${colour}"/>`;
}

function text(x: number, y: number, content: string, anchor: "start" | "middle" | "end", more = ""): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${TEXT}" ${more}>${escape(content)}</text>`;
}

function escape(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The next of 1, 2, 5, 10, 20, 50 ... */
function niceMaximum(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10);
}
