import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { type Labels, matches, readInhibitRules, notified } from "./inhibition.ts";

type Fired = { readonly labels: Labels; readonly from: number; readonly to: number };
type Outage = {
  readonly outage: string;
  readonly seconds: number;
  readonly pages: readonly string[];
  readonly alerts: readonly Fired[];
};
type Rule = { readonly alert?: string; readonly expr: string; readonly labels?: { readonly severity: string } };

const OUTAGES = parse(readFileSync(new URL("testing/outages.yaml", import.meta.url), "utf8")) as readonly Outage[];
const ALERTS = new URL("../alerts/", import.meta.url);
const alerts = readdirSync(ALERTS)
  .filter((name) => name.endsWith(".yaml"))
  .flatMap((name) => (parse(readFileSync(new URL(name, ALERTS), "utf8")) as { groups: { rules: Rule[] }[] }).groups)
  .flatMap(({ rules: own }) => own)
  .filter(({ alert }) => alert !== undefined);
const rules = readInhibitRules();

/** Money, or a decision, that a person has to look at whatever else has failed. */
const LOUD = [
  "PammReconciliationBreak",
  "PammTransferWithoutOwner",
  "PammDecisionWithoutVotes",
  "PammOutcomeUnknownForLong",
  "PammExternalFundsOnInvestor",
  "PammExternalFundsOnMaster",
  "PammUnknownAccounts",
  "PammReviewsOpen",
  "PammPoolStopped",
  "PammSendingStopped",
  "PammPlatformClockDiffers",
  "PammFeedStopped",
  "PammCallRefused",
  "PammBrokerRefuses",
  "PammAuditDropped",
  "PammServiceAbsent",
  "PammBrokerLost",
  "PammPostgresAway",
];

/** Of what an operator is notified at each instant at which something begins or ends, by severity. */
function notifiedDuring({ alerts: fired }: Outage, severity: string): Set<string> {
  const names = new Set<string>();
  for (const at of fired.flatMap(({ from, to }) => [from, to])) {
    const firing = fired.filter(({ from, to }) => from <= at && at < to).map(({ labels }) => labels);
    for (const { alertname = "", severity: own } of notified(firing, rules)) if (own === severity) names.add(alertname);
  }
  return names;
}

test.each(OUTAGES)(
  "of the alerts that were recorded while $outage, its cause alone pages, also when it has ended",
  (outage) => {
    const pages = outage.alerts.filter(({ labels }) => labels["severity"] === "page");
    expect([...notifiedDuring(outage, "page")].toSorted()).toEqual(outage.pages.toSorted());
    // Otherwise the outage shows nothing.
    expect(new Set(pages.map(({ labels }) => labels["alertname"])).size).toBeGreaterThan(outage.pages.length);
  },
);

test("operators are notified of money at risk and of decisions, whatever else fires", () => {
  const names = alerts.map(({ alert }) => alert);
  expect(names).toEqual(expect.arrayContaining(LOUD));
  for (const alertname of LOUD) {
    const targeted = rules.filter(({ target }) =>
      matches(
        target.filter(({ name }) => name === "alertname"),
        { alertname },
      ),
    );
    expect(targeted, alertname).toEqual([]);
  }
});

test("a page that no rule inhibits is among those that none may inhibit, or has no cause among the others", () => {
  const inhibited = alerts.filter(({ alert = "" }) =>
    rules.some(({ target }) =>
      matches(
        target.filter(({ name }) => name === "alertname"),
        { alertname: alert },
      ),
    ),
  );
  const pages = alerts.filter(({ labels }) => labels?.severity === "page").filter((rule) => !inhibited.includes(rule));
  const OF_THEIR_OWN = ["PammVolumeFills"];
  expect(pages.map(({ alert }) => alert).toSorted()).toEqual(
    [...LOUD, ...OF_THEIR_OWN]
      .filter((name) => !["PammReviewsOpen", "PammExternalFundsOnInvestor"].includes(name))
      .toSorted(),
  );
});

test("each rule names alerts that exist, and selects by labels of a matcher on the name of the alert", () => {
  const names = new Set(alerts.map(({ alert }) => alert));
  for (const { source, target } of rules) {
    for (const matchers of [source, target]) {
      const named = matchers.filter(({ name }) => name === "alertname").flatMap(({ value }) => value.split("|"));
      expect(named.length).toBeGreaterThan(0);
      expect([...names]).toEqual(expect.arrayContaining(named));
    }
  }
});

test("errors of reads page while MetaTrader is away, and so does a check of another service while a database is", () => {
  const away = { alertname: "PammTradingPlatformAway", severity: "page", dependency: "platform" };
  const burn = { alertname: "PammErrorBudgetBurnsFast", severity: "page" };
  const [money, read] = [
    { ...burn, class: "money" },
    { ...burn, class: "read" },
  ];
  expect(notified([away, money, read], rules)).toEqual([away, read]);
  const database = { alertname: "PammPostgresAway", severity: "page", job: "fee" };
  const stale = { alertname: "PammCheckStale", severity: "page", check: "fee_payments" };
  const [own, other] = [
    { ...stale, job: "fee" },
    { ...stale, job: "platform" },
  ];
  expect(notified([database, own, other], rules)).toEqual([database, other]);
});

test("an outage of one installation inhibits nothing of another", () => {
  const away = { alertname: "PammTradingPlatformAway", severity: "page", environment: "staging" };
  const burn = { alertname: "PammErrorBudgetBurnsFast", severity: "page", class: "money" };
  expect(notified([away, { ...burn, environment: "staging" }], rules)).toEqual([away]);
  expect(notified([away, { ...burn, environment: "live" }], rules)).toHaveLength(2);
});
