import { readFileSync } from "node:fs";
import { parse } from "yaml";

export type Labels = Readonly<Record<string, string>>;
/** `name="value"`, or with `=~` and a pattern for the whole value. */
export type Matcher = { readonly name: string; readonly isPattern: boolean; readonly value: string };
export type InhibitRule = {
  readonly source: readonly Matcher[];
  readonly target: readonly Matcher[];
  readonly equal: readonly string[];
};

type Written = {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
};

const CONFIGURATION = new URL("alertmanager.yml", import.meta.url);
const MATCHER = /^(\w+)(=~?)"([^"]*)"$/;

/** The rules of deploy/alertmanager/alertmanager.yml. */
export function readInhibitRules(): InhibitRule[] {
  const { inhibit_rules: rules } = parse(readFileSync(CONFIGURATION, "utf8")) as { inhibit_rules: readonly Written[] };
  return rules.map(({ source_matchers: source, target_matchers: target, equal }) => ({
    source: source.map(matcherOf),
    target: target.map(matcherOf),
    equal,
  }));
}

/** The alerts, of those that fire, of which Alertmanager notifies. An inhibited alert inhibits others all the same, and none inhibits itself. */
export function notified<Alert extends Labels>(firing: readonly Alert[], rules: readonly InhibitRule[]): Alert[] {
  return firing.filter((alert) => !rules.some((rule) => firing.some((source) => inhibits(rule, source, alert))));
}

function inhibits({ source, target, equal }: InhibitRule, cause: Labels, alert: Labels): boolean {
  if (!matches(target, alert) || !matches(source, cause)) return false;
  // As in Alertmanager: an alert that is a source of the rule, too, is inhibited by none that is also a target.
  if (matches(source, alert) && matches(target, cause)) return false;
  return equal.every((name) => (cause[name] ?? "") === (alert[name] ?? ""));
}

export function matches(matchers: readonly Matcher[], labels: Labels): boolean {
  return matchers.every(({ name, isPattern, value }) => {
    const found = labels[name] ?? "";
    return isPattern ? new RegExp(`^(?:${value})$`).test(found) : found === value;
  });
}

function matcherOf(text: string): Matcher {
  const [, name, operator, value] = MATCHER.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new Error(`not a matcher: ${text}`);
  return { name, isPattern: operator === "=~", value };
}
