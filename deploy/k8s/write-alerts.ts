import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { parse, stringify } from "yaml";

const RULES = new URL("../alerts/", import.meta.url);
/** Kustomize reads no file outside of its folder. */
const MANIFEST = new URL("components/observability/alerts.yaml", import.meta.url);

/** All rules of Prometheus in deploy/alerts as an object of its operator. */
export function alertsManifest(): string {
  const files = readdirSync(RULES).filter((name) => name.endsWith("-rules.yaml"));
  const groups = files.toSorted().flatMap((name) => {
    return (parse(readFileSync(new URL(name, RULES), "utf8")) as { readonly groups: readonly unknown[] }).groups;
  });
  const manifest = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "pamm", labels: { "app.kubernetes.io/part-of": "pamm" } },
    spec: { groups },
  };
  const text = stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false });
  return `# Written from the rules in deploy/alerts: node deploy/k8s/write-alerts.ts\n${text}`;
}

if (import.meta.main) writeFileSync(MANIFEST, alertsManifest());
