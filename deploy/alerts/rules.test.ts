import { readFileSync } from "node:fs";
import { register } from "prom-client";
import { expect, test } from "vitest";
import { parse } from "yaml";
import "#kernel/feed/metrics.ts";
import "#kernel/identity.ts";
import "#kernel/metrics.ts";
import "#kernel/reconcile/metrics.ts";
import "#kernel/retention/metrics.ts";
import "#kernel/review/metrics.ts";
import { feeChecks } from "../../services/fee/checks/checks.ts";
import { fundingChecks } from "../../services/funding/checks/checks.ts";
import "../../services/edge/observe.ts";
import "../../services/platform/metrics.ts";
import { platformChecks } from "../../services/platform/checks/checks.ts";
import { subscriptionChecks } from "../../services/subscription/checks/checks.ts";

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
};

const TEXT = readFileSync(new URL("./pamm-rules.yaml", import.meta.url), "utf8");
const { groups } = parse(TEXT) as { groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** No check runs here, so none needs its dependencies. */
const UNUSED = undefined as never;
const CHECKS = [
  ...platformChecks({ settings: { quietPeriodMs: 0 } } as never),
  ...subscriptionChecks({ pool: UNUSED, platform: UNUSED, confirm: UNUSED }),
  ...feeChecks({ pool: UNUSED, confirm: UNUSED }),
  ...fundingChecks({ pool: UNUSED, platform: UNUSED }),
];

test("every metric of a rule exists", () => {
  const named = new Set(TEXT.match(/\bpamm_[a-z_]+/g));
  expect(named.size).toBeGreaterThan(4);
  expect([...named].filter((name) => register.getSingleMetric(name) === undefined)).toEqual([]);
});

/** Prometheus adds these labels to every metric. */
const OF_THE_SCRAPE = ["instance", "job"];
/** Their results have no labels. */
const WITHOUT_LABELS = /^(count|absent)\(/;

function labelsOf(metric: string): readonly string[] {
  const { labelNames = [] } = register.getSingleMetric(metric) as unknown as { labelNames?: readonly string[] };
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

test("every label that an alert shows remains in the result of its expression", () => {
  for (const { alert, expr, annotations } of rules) {
    const shown = [...JSON.stringify(annotations).matchAll(/\$labels\.([a-z_]+)/g)].map(([, label]) => label);
    const [metric = ""] = expr.match(/\bpamm_[a-z_]+/) ?? [];
    expect(WITHOUT_LABELS.test(expr) ? [] : labelsOf(metric), alert).toEqual(expect.arrayContaining(shown));
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
  const runbook = readFileSync(new URL("../../docs/operate.md", import.meta.url), "utf8");
  const headings = new Set(runbook.match(/(?<=^### )Pamm\w+$/gm));
  for (const { alert, annotations } of rules) {
    const anchor = alert.toLowerCase();
    expect(annotations.runbook_url).toBe(`{{ $externalLabels.repository_url }}/docs/operate.md#${anchor}`);
    expect(headings, alert).toContain(alert);
  }
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
