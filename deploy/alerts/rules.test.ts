import { readdirSync, readFileSync } from "node:fs";
import { register } from "prom-client";
import { expect, test } from "vitest";
import { defineMetrics } from "#test/support/defined-metrics.ts";
import { parse } from "yaml";
import { CODES } from "../../services/edge/problems/problems.ts";
import { feeChecks } from "../../services/fee/checks/checks.ts";
import { completeness } from "../../services/funding/checks/completeness.ts";
import { platformChecks } from "../../services/platform/checks/checks.ts";
import { subscriptionChecks } from "../../services/subscription/checks/checks.ts";

await defineMetrics();

type Recorded = { readonly record: string; readonly expr: string };
type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
};

/** Each file of rules, and the page with the sections of its alerts. */
const PAGES = {
  "pamm-rules.yaml": "docs/operate/money-alerts.md",
  "service-rules.yaml": "docs/operate/service-alerts.md",
};
const FILES = Object.entries(PAGES).map(([file, page]) => {
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  const { groups } = parse(text) as { groups: readonly { readonly rules: readonly (Rule | Recorded)[] }[] };
  const all = groups.flatMap((group) => group.rules);
  return { page, text, rules: all.filter((rule) => "alert" in rule), recorded: all.filter((rule) => "record" in rule) };
});
const TEXT = FILES.map(({ text }) => text).join("\n");
const rules = FILES.flatMap((file) => file.rules);
const recorded = FILES.flatMap((file) => file.recorded);

/** No check runs here, so none needs its dependencies. */
const UNUSED = undefined as never;
const CHECKS = [
  ...platformChecks({ settings: { quietPeriodMs: 0 } } as never),
  ...subscriptionChecks({ pool: UNUSED, platform: UNUSED, confirm: UNUSED }),
  ...feeChecks({ pool: UNUSED, confirm: UNUSED }),
  completeness({ pool: UNUSED, platform: UNUSED }),
];

/** A histogram has its series under names of their own. */
function metricOf(series: string): string {
  return register.getSingleMetric(series) === undefined ? series.replace(/_(?:bucket|count|sum)$/, "") : series;
}

test("every metric of a rule exists", () => {
  const named = new Set(TEXT.match(/\bpamm_[a-z_]+/g)?.map(metricOf));
  expect(named.size).toBeGreaterThan(30);
  expect([...named].filter((name) => register.getSingleMetric(name) === undefined)).toEqual([]);
});

test("every recorded series of a rule is recorded", () => {
  const named = new Set(rules.flatMap(({ expr }) => expr.match(/\bpamm:[a-z_:0-9]+/g) ?? []));
  expect(named.size).toBeGreaterThan(4);
  expect(recorded.map(({ record }) => record)).toEqual(expect.arrayContaining([...named]));
});

/** Prometheus adds these labels to every metric. */
const OF_THE_SCRAPE = ["instance", "job", "le"];
/** Their results have no labels, but those that an absent series is selected by. */
const WITHOUT_LABELS = /^(count|absent)\(/;

function labelsOf(metric: string): readonly string[] {
  const { labelNames = [] } = register.getSingleMetric(metricOf(metric)) as unknown as {
    labelNames?: readonly string[];
  };
  return [...labelNames, ...OF_THE_SCRAPE];
}

test("every label of a selector exists in its metric", () => {
  const selectors = [...TEXT.matchAll(/\b(pamm_[a-z_]+)\{([^}]+)\}/g)];
  expect(selectors.length).toBeGreaterThan(10);
  for (const [text, metric = "", matchers = ""] of selectors) {
    const selected = [...matchers.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label);
    expect(selected, text).not.toEqual([]);
    expect(labelsOf(metric), text).toEqual(expect.arrayContaining(selected));
  }
  for (const [, grouped = "", metric = ""] of TEXT.matchAll(/\bby \(([a-z_, ]+)\) \((pamm_[a-z_]+)/g)) {
    expect(labelsOf(metric), metric).toEqual(expect.arrayContaining(grouped.split(", ")));
  }
});

function labelsOfResult(expr: string): readonly string[] {
  const absent = [...expr.matchAll(/absent\([a-z_]+\{([a-z_]+)="/g)].map(([, label = ""]) => label);
  if (WITHOUT_LABELS.test(expr)) return absent;
  const [series = ""] = expr.match(/\bpamm:[a-z_:0-9]+/) ?? [];
  const source = recorded.find(({ record }) => record === series)?.expr ?? expr;
  const grouped = [...source.matchAll(/\bby \(([a-z_, ]+)\)/g)].map(([, names = ""]) => names.split(", "));
  // A label is left when every grouping keeps it.
  if (grouped.length > 0) return grouped.reduce((left, right) => left.filter((name) => right.includes(name)));
  const [metric = ""] = source.match(/\bpamm_[a-z_]+/) ?? [];
  return metric === "" ? [] : labelsOf(metric);
}

test("every label that an alert shows remains in the result of its expression", () => {
  for (const { alert, expr, annotations } of rules) {
    const shown = [...JSON.stringify(annotations).matchAll(/\$labels\.([a-z_]+)/g)].map(([, label]) => label);
    expect(labelsOfResult(expr), alert).toEqual(expect.arrayContaining(shown));
  }
});

test("every alert has the money at risk, a severity and a description", () => {
  for (const { alert, expr, labels, annotations } of rules) {
    expect(alert).toMatch(/^Pamm[A-Z]/);
    expect(expr, alert).not.toBe("");
    expect(["page", "ticket"], alert).toContain(labels.severity);
    expect(annotations.summary, alert).toMatch(/at risk/);
    expect(annotations.description.length, alert).toBeGreaterThan(20);
  }
});

test("every alert links to its section of the runbook", () => {
  for (const { page, rules: own } of FILES) {
    const runbook = readFileSync(new URL(`../../${page}`, import.meta.url), "utf8");
    const headings = new Set(runbook.match(/(?<=^### )Pamm\w+$/gm));
    for (const { alert, annotations } of own) {
      const anchor = alert.toLowerCase();
      expect(annotations.runbook_url).toBe(`{{ $externalLabels.repository_url }}/${page}#${anchor}`);
      expect(headings, alert).toContain(alert);
    }
  }
});

test("every code that a section asks for in the problems of the edge exists", () => {
  const page = readFileSync(new URL("../../docs/operate/service-alerts.md", import.meta.url), "utf8");
  const [, section = ""] = page.match(/### PammErrorBudgetBurnsFast\n([^#]+)/) ?? [];
  const [, decide = ""] = section.split("\nDecide: ");
  const codes = [...decide.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(3);
  expect(CODES).toEqual(expect.arrayContaining(codes));
});

test("every check has an alert, and every alert names existing checks", () => {
  const checks = CHECKS.map(({ name }) => name);
  expect(new Set(checks).size).toBe(checks.length);
  const alerted = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/check=~?"([^"]+)"/g)].flatMap(([, names = ""]) => names.split("|")),
  );
  expect([...new Set(alerted)].toSorted()).toEqual(checks.toSorted());
  expect(TEXT).toContain(`< ${checks.length} or absent(`);
});

test("every check is on the page that describes it", () => {
  const page = readFileSync(new URL("../../docs/reconciliation.md", import.meta.url), "utf8");
  for (const { name, title } of CHECKS) {
    const row = page.split("\n").find((line) => line.startsWith(`| ${name} |`));
    expect(row, `${name}: ${title}`).toBeDefined();
  }
});

test("the folder has no other YAML than rules, because Prometheus reads all of it", () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".yaml"));
  expect(files.toSorted()).toEqual(Object.keys(PAGES).toSorted());
});
