import { readFileSync } from "node:fs";
import { register } from "prom-client";
import { expect, test } from "vitest";
import { parse } from "yaml";
import "#kernel/feed/metrics.ts";
import "#kernel/reconcile/metrics.ts";
import "#kernel/review/metrics.ts";
import { feeChecks } from "../../services/fee/checks/checks.ts";
import { fundingChecks } from "../../services/funding/checks/checks.ts";
import { platformChecks } from "../../services/platform/checks/checks.ts";
import { subscriptionChecks } from "../../services/subscription/checks/checks.ts";

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
};

const TEXT = readFileSync(new URL("./pamm-rules.yaml", import.meta.url), "utf8");
const { groups } = parse(TEXT) as { groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** Nothing is looked at here, so nothing is needed to look at it. */
const NOTHING = undefined as never;
const CHECKS = [
  ...platformChecks({ settings: { quietPeriodMs: 0 } } as never),
  ...subscriptionChecks({ pool: NOTHING, platform: NOTHING }),
  ...feeChecks({ pool: NOTHING }),
  ...fundingChecks({ pool: NOTHING, platform: NOTHING }),
];

test("every metric that a rule names is one of ours", () => {
  const named = new Set(TEXT.match(/\bpamm_[a-z_]+/g));
  expect(named.size).toBeGreaterThan(4);
  expect([...named].filter((name) => register.getSingleMetric(name) === undefined)).toEqual([]);
});

/** Prometheus adds these to whatever it scrapes. */
const OF_THE_SCRAPE = ["instance", "job"];
/** They leave no label behind. */
const WITHOUT_LABELS = /^(count|absent)\(/;

function labelsOf(metric: string): readonly string[] {
  const { labelNames = [] } = register.getSingleMetric(metric) as unknown as { labelNames?: readonly string[] };
  return [...labelNames, ...OF_THE_SCRAPE];
}

test("every label that is asked for is one that its metric has", () => {
  const selectors = [...TEXT.matchAll(/\b(pamm_[a-z_]+)\{([^}]+)\}/g)];
  expect(selectors.length).toBeGreaterThan(10);
  for (const [text, metric = "", matchers = ""] of selectors) {
    const asked = [...matchers.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label);
    expect(asked, text).not.toEqual([]);
    expect(labelsOf(metric), text).toEqual(expect.arrayContaining(asked));
  }
  for (const [, grouped = "", metric = ""] of TEXT.matchAll(/\bby \(([a-z_, ]+)\) \((pamm_[a-z_]+)/g)) {
    expect(labelsOf(metric), metric).toEqual(expect.arrayContaining(grouped.split(", ")));
  }
});

test("every label that an alert shows is one that is left of its expression", () => {
  for (const { alert, expr, annotations } of rules) {
    const shown = [...JSON.stringify(annotations).matchAll(/\$labels\.([a-z_]+)/g)].map(([, label]) => label);
    const [metric = ""] = expr.match(/\bpamm_[a-z_]+/) ?? [];
    expect(WITHOUT_LABELS.test(expr) ? [] : labelsOf(metric), alert).toEqual(expect.arrayContaining(shown));
  }
});

test("every alert says how much money is at risk, whom it wakes and what to do", () => {
  for (const { alert, expr, labels, annotations } of rules) {
    expect(alert).toMatch(/^Pamm[A-Z]/);
    expect(expr, alert).not.toBe("");
    expect(["page", "ticket"], alert).toContain(labels.severity);
    expect(annotations.summary, alert).toMatch(/at risk/);
    expect(annotations.description.length, alert).toBeGreaterThan(20);
  }
});

test("every check has an alert, and no alert is about a check that nobody runs", () => {
  const names = CHECKS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const alerted = rules.flatMap(({ expr }) => expr.match(/\bR\d+[a-z]?\b/g) ?? []);
  expect([...new Set(alerted)].toSorted()).toEqual(names.toSorted());
  expect(TEXT).toContain(`< ${names.length} or absent(`);
});

test("every check is on the page that says what it compares", () => {
  const page = readFileSync(new URL("../../docs/reconciliation.md", import.meta.url), "utf8");
  for (const { name, title } of CHECKS) {
    const row = page.split("\n").find((line) => line.startsWith(`| ${name} |`));
    expect(row, `${name}: ${title}`).toBeDefined();
  }
});
