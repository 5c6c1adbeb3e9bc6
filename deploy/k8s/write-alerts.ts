import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { parse, stringify } from "yaml";
import { type Matcher, readInhibitRules } from "../alertmanager/inhibition.ts";

const RULES = new URL("../alerts/", import.meta.url);
const GENERATED = new URL("components/observability/gen/", import.meta.url);
const LABELS = { "app.kubernetes.io/part-of": "pamm" };
/** Of both overlays. The operator of Prometheus adds it to every matcher of an AlertmanagerConfig, and most alerts are about sums without it. */
const NAMESPACE = "pamm";

type Rule = { readonly alert?: string; readonly labels?: Readonly<Record<string, string>> };
type Group = { readonly rules: readonly Rule[] };

/** Kustomize reads no file outside of its folder, so what is in deploy/alerts and deploy/alertmanager is written for it as objects of the operator of Prometheus. */
export function writtenManifests(): Readonly<Record<string, string>> {
  return { "alerts.yaml": alertsManifest(), "inhibition.yaml": inhibitionManifest() };
}

function alertsManifest(): string {
  const files = readdirSync(RULES).filter((name) => name.endsWith("-rules.yaml"));
  const groups = files.toSorted().flatMap((name) => {
    return (parse(readFileSync(new URL(name, RULES), "utf8")) as { readonly groups: readonly Group[] }).groups;
  });
  return manifest("the rules in deploy/alerts", {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "pamm", labels: LABELS },
    spec: { groups: groups.map((group) => ({ ...group, rules: group.rules.map(inNamespace) })) },
  });
}

function inNamespace(rule: Rule): Rule {
  if (rule.alert === undefined) return rule;
  return { ...rule, labels: { ...rule.labels, namespace: NAMESPACE } };
}

function inhibitionManifest(): string {
  const inhibitRules = readInhibitRules().map(({ source, target, equal }) => ({
    sourceMatch: source.map(inManifest),
    targetMatch: target.map(inManifest),
    equal,
  }));
  return manifest("the rules in deploy/alertmanager/alertmanager.yml", {
    apiVersion: "monitoring.coreos.com/v1beta1",
    kind: "AlertmanagerConfig",
    metadata: { name: "pamm", labels: LABELS },
    spec: { inhibitRules },
  });
}

function inManifest({ name, isPattern, value }: Matcher): Readonly<Record<string, string>> {
  return { name, matchType: isPattern ? "=~" : "=", value };
}

function manifest(source: string, content: object): string {
  const text = stringify(content, { lineWidth: 0, aliasDuplicateObjects: false });
  return `# Written from ${source} by \`make alerts\`.\n${text}`;
}

if (import.meta.main) {
  mkdirSync(GENERATED, { recursive: true });
  for (const [name, text] of Object.entries(writtenManifests())) writeFileSync(new URL(name, GENERATED), text);
}
