import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readConfig, type Settings } from "#kernel/process/config.ts";
import { listMigrations } from "#kernel/postgres/apply-migration.ts";
import type { RetentionRule } from "#kernel/retention/table-rule.ts";
import { KEPT_TABLES } from "./kept-tables.ts";
import * as account from "../../services/account/retention.ts";
import * as edge from "../../services/edge/retention.ts";
import * as fee from "../../services/fee/retention.ts";
import * as funding from "../../services/funding/retention.ts";
import * as platform from "../../services/platform/retention.ts";
import * as subscription from "../../services/subscription/retention.ts";
import { FEEDS as ACCOUNT_FEEDS } from "../../services/account/service.ts";
import { FEEDS as FEE_FEEDS } from "../../services/fee/service.ts";
import { FEEDS as FUNDING_FEEDS } from "../../services/funding/service.ts";
import { FEEDS as PLATFORM_FEEDS } from "../../services/platform/service.ts";
import { FEEDS as SUBSCRIPTION_FEEDS } from "../../services/subscription/service.ts";

const defaults = <Known extends Settings>(settings: Known) => readConfig(settings, {});

const RULES: Readonly<Record<string, readonly RetentionRule[]>> = {
  account: account.accountRules(ACCOUNT_FEEDS, defaults(account.ACCOUNT_RETENTION)),
  edge: edge.edgeRules(defaults(edge.EDGE_RETENTION)),
  fee: fee.feeRules(FEE_FEEDS, defaults(fee.FEE_RETENTION)),
  funding: funding.fundingRules(FUNDING_FEEDS, defaults(funding.FUNDING_RETENTION)),
  platform: platform.platformRules(PLATFORM_FEEDS, defaults(platform.PLATFORM_RETENTION)),
  subscription: subscription.subscriptionRules(SUBSCRIPTION_FEEDS, defaults(subscription.SUBSCRIPTION_RETENTION)),
};

/** The tables of the migrations of a service, those of the kernel included. */
function tablesOf(service: string): string[] {
  const files = listMigrations(new URL(`../../services/${service}/migrations/`, import.meta.url));
  return files.flatMap(({ text }) => [...text.matchAll(/^ *create table (\w+)/gm)].map(([, table = ""]) => table));
}

/** A service without feeds of its own has the table, and never a row in it. */
const UNUSED: Readonly<Record<string, readonly string[]>> = { edge: ["outbox"] };

test.each(Object.entries(RULES))(
  "each table of %s has a rule that removes old rows, or a reason why none does",
  (service, rules) => {
    const { [service]: kept = {}, kernel = {} } = KEPT_TABLES;
    const ruled = new Set(rules.flatMap(({ tables }) => tables));
    const tables = tablesOf(service);
    expect(tables.length).toBeGreaterThan(4);

    const known = [...ruled, ...Object.keys(kept), ...Object.keys(kernel), ...(UNUSED[service] ?? [])];
    expect(tables.filter((table) => !known.includes(table))).toEqual([]);
    expect(Object.keys(kept).filter((table) => !tables.includes(table) || ruled.has(table))).toEqual([]);
    expect([...ruled].filter((table) => !tables.includes(table))).toEqual([]);
  },
);

/** The names of the feeds of a service in its code, also of one that its list of feeds lacks. */
function feedsOf(service: string): string[] {
  const folder = fileURLToPath(new URL(`../../services/${service}/`, import.meta.url));
  const files = globSync("**/*.ts", { cwd: folder }).filter((file) => !file.endsWith(".test.ts"));
  const named = new RegExp(String.raw`_FEED = "(${service}\.\w+)"`, "g");
  const names = files.flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(named)].map(([, name = ""]) => name),
  );
  return names.toSorted();
}

test("the feeds of the services are found in their code", () => {
  const feeds = Object.keys(RULES).flatMap(feedsOf);
  expect(new Set(feeds).size).toBe(feeds.length);
  expect(feeds).toEqual(
    [...ACCOUNT_FEEDS, ...FEE_FEEDS, ...FUNDING_FEEDS, ...PLATFORM_FEEDS, ...SUBSCRIPTION_FEEDS].toSorted(),
  );
});

test.each(Object.entries(RULES))("each feed of %s has a rule that removes its old events", (service, rules) => {
  const ruled = rules.flatMap(({ name }) => (name.startsWith("events ") ? [name.slice("events ".length)] : []));
  expect(ruled.toSorted()).toEqual(feedsOf(service));
  expect(feedsOf(service).length > 0).toBe(UNUSED[service] === undefined);
});

test("a table of the kernel without a rule is in some service", () => {
  const tables = new Set(Object.keys(RULES).flatMap(tablesOf));
  expect(Object.keys(KEPT_TABLES["kernel"] ?? {}).filter((table) => !tables.has(table))).toEqual([]);
});

test("rules of one service have different names", () => {
  for (const rules of Object.values(RULES)) {
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
  }
});

test("what the edge may repeat is still known to the services", () => {
  const longest = { PAMM_RETAIN_IDEMPOTENCY_KEYS: "P90D" };
  expect(() => readConfig(edge.EDGE_RETENTION, longest)).not.toThrow();
  const unanswered = edge.UNANSWERED_DAYS;
  expect(() => readConfig(account.ACCOUNT_RETENTION, { PAMM_RETAIN_UPDATES: `P${unanswered}D` })).toThrow();
  expect(() => readConfig(funding.FUNDING_RETENTION, { PAMM_RETAIN_OPERATIONS: `P${unanswered}D` })).toThrow();
});

test("every rule is in the runbook, with what it removes and for how long the rows are kept", () => {
  const page = readFileSync(new URL("../../docs/operate/retention.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  for (const rules of Object.values(RULES)) {
    for (const { name } of rules) {
      const shown = name.startsWith("events ") ? "events <feed>" : name;
      expect(
        rows.filter((row) => row.split("|")[1]?.includes(`\`${shown}\``)),
        name,
      ).toHaveLength(1);
    }
  }
});
