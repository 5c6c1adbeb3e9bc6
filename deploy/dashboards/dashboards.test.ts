import { readdirSync, readFileSync } from "node:fs";
import { register } from "prom-client";
import { expect, test } from "vitest";
import { defineMetrics } from "#test/support/defined-metrics.ts";

type Panel = {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
};
type Dashboard = { readonly uid: string; readonly panels: readonly Panel[] };

await defineMetrics();

const DASHBOARDS = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".json"))
  .map((name) => [name, JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8")) as Dashboard] as const);

/** Labels that Prometheus adds, and those of the processes of Node.js. */
const OF_THE_SCRAPE = ["instance", "job", "le"];

function metricOf(series: string) {
  return register.getSingleMetric(series) ?? register.getSingleMetric(series.replace(/_(?:bucket|count|sum)$/, ""));
}

test("there is a dashboard for money, one for the services and one for the trading platform", () => {
  expect(DASHBOARDS.map(([name]) => name)).toEqual(["money.json", "platform.json", "service.json"]);
  expect(new Set(DASHBOARDS.map(([, { uid }]) => uid)).size).toBe(DASHBOARDS.length);
});

test.each(DASHBOARDS)("every metric and label that %s shows exists", (_name, { panels }) => {
  const shown = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
  expect(shown.length).toBeGreaterThan(10);
  for (const { title, expr, legendFormat } of shown) {
    const series = expr.match(/\bpamm_[a-z_]+/g) ?? [];
    const labels = series.flatMap((name) => {
      const metric = metricOf(name) as { labelNames?: readonly string[] } | undefined;
      expect(metric, `${title}: ${name}`).toBeDefined();
      return metric?.labelNames ?? [];
    });
    const grouped = [...expr.matchAll(/\bby \(([a-z_, ]+)\)/g)].flatMap(([, names = ""]) => names.split(", "));
    const selected = [...expr.matchAll(/[{,]([a-z_]+)(?:=~|!~|!=|=)"/g)].map(([, name]) => name);
    expect([...labels, ...OF_THE_SCRAPE], title).toEqual(expect.arrayContaining([...grouped, ...selected]));
    const legend = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name);
    expect(grouped, title).toEqual(expect.arrayContaining(legend));
  }
});

test.each(DASHBOARDS)("no panel of %s covers another one", (_name, { panels }) => {
  for (const [index, { title, gridPos: left }] of panels.entries()) {
    expect(left.x + left.w, title).toBeLessThanOrEqual(24);
    for (const { title: other, gridPos: right } of panels.slice(index + 1)) {
      const isApart =
        left.x + left.w <= right.x ||
        right.x + right.w <= left.x ||
        left.y + left.h <= right.y ||
        right.y + right.h <= left.y;
      expect(isApart, `${title} and ${other}`).toBe(true);
    }
  }
});
