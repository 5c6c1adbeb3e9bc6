import { readFileSync, writeFileSync } from "node:fs";
import { parse, stringify } from "yaml";

const RULES = new URL("../alerts/pamm-rules.yaml", import.meta.url);
/** Kustomize reads no file outside of its folder. */
const MANIFEST = new URL("components/observability/alerts.yaml", import.meta.url);

/** The rules of Prometheus as an object of its operator. */
export function alertsManifest(rules: string): string {
  const { groups } = parse(rules) as { readonly groups: unknown };
  const manifest = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "pamm", labels: { "app.kubernetes.io/part-of": "pamm" } },
    spec: { groups },
  };
  const text = stringify(manifest, { lineWidth: 0 });
  return `# Written from deploy/alerts/pamm-rules.yaml: node deploy/k8s/write-alerts.ts\n${text}`;
}

if (import.meta.main) writeFileSync(MANIFEST, alertsManifest(readFileSync(RULES, "utf8")));
