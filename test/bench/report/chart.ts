import type { Chart } from "../section.ts";
import { barChart } from "./bar-chart.ts";
import { lineChart } from "./line-chart.ts";

/** A picture of a chart. */
export function svgOf(chart: Chart): string {
  return chart.kind === "lines" ? lineChart(chart) : barChart(chart);
}
