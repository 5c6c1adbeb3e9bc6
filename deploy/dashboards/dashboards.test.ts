import { readFileSync } from "node:fs";
import { Gauge, register } from "prom-client";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { defineMetrics } from "#test/support/defined-metrics.ts";
import { DASHBOARDS as dashboards, textOf } from "./generate.ts";

type Target = { readonly expr: string; readonly legendFormat: string; readonly instant?: boolean };
type Panel = {
  readonly title: string;
  readonly description?: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly Target[];
  readonly fieldConfig?: {
    readonly defaults: { readonly unit?: string; readonly thresholds?: { readonly steps: readonly unknown[] } };
  };
  readonly options?: { readonly graphMode?: string; readonly legend?: { readonly calcs?: readonly string[] } };
};
type Dashboard = { readonly uid: string; readonly panels: readonly Panel[] };

await defineMetrics();

const DASHBOARDS = Object.entries(dashboards).map(
  ([name, content]) => [name, JSON.parse(textOf(content)) as Dashboard] as const,
);

/** Labels that Prometheus adds, and those of the processes of Node.js. */
const OF_THE_SCRAPE = ["instance", "job", "le"];

/** Gauges that each process has its own value of; the others read a table, and every replica shows the same. */
const OF_THE_PROCESS = [
  "pamm_build_info",
  "pamm_lease_held",
  "pamm_platform_session_waiting",
  "pamm_platform_sessions",
  "pamm_platform_sessions_max",
  "pamm_postgres_connections",
  "pamm_postgres_connections_max",
  "pamm_postgres_waiting",
];

function metricOf(series: string) {
  return register.getSingleMetric(series) ?? register.getSingleMetric(series.replace(/_(?:bucket|count|sum)$/, ""));
}

test("there is a dashboard for money, one for the services and one for the trading platform", () => {
  expect(DASHBOARDS.map(([name]) => name)).toEqual(["money", "platform", "service"]);
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

/** The panels that draw something, with their queries. */
function drawnBy({ panels }: Dashboard) {
  return panels.flatMap((panel) => (panel.targets === undefined ? [] : [{ ...panel, targets: panel.targets }]));
}

test.each(DASHBOARDS)("every panel of %s says what it shows, has a unit and a title that fits", (_name, dashboard) => {
  for (const { title, description = "", gridPos, fieldConfig } of drawnBy(dashboard)) {
    expect(description.length, title).toBeGreaterThan(20);
    expect(fieldConfig?.defaults.unit, title).toMatch(/./);
    expect(title.length / gridPos.w, title).toBeLessThan(7);
  }
});

test.each(DASHBOARDS)(
  "every line of %s has a name, and the name has every label by which lines differ",
  (_name, dashboard) => {
    for (const { title, type, targets } of drawnBy(dashboard)) {
      if (type === "stat") continue;
      for (const { expr, legendFormat } of targets) {
        expect(legendFormat, title).not.toBe("");
        const shown = [...expr.matchAll(/\b(?:min|max|sum|count|group) by \(([a-z_, ]+)\)/g)];
        // The labels of the outermost operator.
        const labels = (shown[0]?.[1] ?? "").split(", ").filter((name) => !["", "le"].includes(name));
        const hasAll = labels.every((name) => legendFormat.includes(`{{${name}}}`));
        expect(hasAll || /sum\(max/.test(expr), `${title}: ${legendFormat}`).toBe(true);
      }
    }
  },
);

test.each(DASHBOARDS)("a number of %s is of now, and its colour changes", (_name, dashboard) => {
  for (const { title, type, targets, options, fieldConfig } of drawnBy(dashboard)) {
    if (type !== "stat") continue;
    expect(targets, title).toMatchObject([{ instant: true }]);
    // One point is no line.
    expect(options?.graphMode, title).toBe("none");
    expect(fieldConfig?.defaults.thresholds?.steps.length, title).toBeGreaterThan(1);
    // A zero that stands for "nothing was scraped" would be green.
    for (const { expr } of targets) expect(expr, title).not.toMatch(/or vector\(0\)$/);
  }
});

test.each(DASHBOARDS)("%s reads counters as rates, and sums no gauge that every replica shows", (_name, dashboard) => {
  for (const { title, targets } of drawnBy(dashboard)) {
    for (const { expr } of targets) {
      for (const [, before = "", series = ""] of expr.matchAll(/([a-z]*)\(?(pamm_[a-z_]+)/g)) {
        const isRate = ["rate", "increase"].includes(before);
        expect(isRate, `${title}: ${series}`).toBe(!(metricOf(series) instanceof Gauge));
      }
      for (const [, series = ""] of expr.matchAll(/\b(?:sum|count)(?: by \([a-z_, ]+\))? ?\((pamm_[a-z_]+)/g)) {
        expect(OF_THE_PROCESS, title).toContain(series);
      }
      const windows = [...expr.matchAll(/\[([^\]]+)\]/g)].map(([, window]) => window);
      // A shorter window of its own would leave out what lies between two points of a long range.
      expect(["$__rate_interval", "1h", "24h"], title).toEqual(expect.arrayContaining(windows));
    }
  }
});

test.each(DASHBOARDS)("a last value in a table of %s is of now, because its lines do not end", (_name, dashboard) => {
  for (const { title, targets, options } of drawnBy(dashboard)) {
    if (options?.legend?.calcs?.includes("lastNotNull") !== true) continue;
    for (const { expr } of targets) expect(expr, title).not.toMatch(/> 0|histogram_quantile/);
  }
});

test.each(DASHBOARDS)("%s shows cents as dollars", (_name, dashboard) => {
  for (const { title, targets, fieldConfig } of drawnBy(dashboard)) {
    for (const { expr } of targets) {
      expect(/_cents\b/.test(expr), title).toBe(expr.endsWith("/ 100"));
      expect(/_cents\b/.test(expr), title).toBe(fieldConfig?.defaults.unit === "currencyUSD");
    }
  }
});

test("the numbers of checks and services are those of the alerts", () => {
  const rules = ["pamm-rules.yaml", "service-rules.yaml"].flatMap((file) => {
    const text = readFileSync(new URL(`../alerts/${file}`, import.meta.url), "utf8");
    const { groups } = parse(text) as {
      groups: readonly { readonly rules: readonly { alert?: string; expr: string }[] }[];
    };
    return groups.flatMap((group) => group.rules);
  });
  const exprOf = (alert: string): string => rules.find((rule) => rule.alert === alert)?.expr ?? "";
  const checks = /< (\d+)/.exec(exprOf("PammCheckMissing"))?.[1];
  const services = exprOf("PammServiceAbsent").match(/service="/g)?.length;
  const shown = DASHBOARDS.flatMap(([, dashboard]) => drawnBy(dashboard)).map(({ title, targets }) => [
    title,
    targets[0]?.expr,
  ]);
  expect(shown).toContainEqual(["Checks late or missing", expect.stringMatching(new RegExp(`^${checks} - `))]);
  expect(shown).toContainEqual(["Services absent", expect.stringMatching(new RegExp(`^${services} - `))]);
});
