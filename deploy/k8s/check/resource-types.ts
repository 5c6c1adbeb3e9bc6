import type { Manifest } from "./manifests.ts";

/** The groups of custom resources, and the package with their types and schemas. */
const CUSTOM: Readonly<Record<string, string>> = {
  "cert-manager.io": "@kubernetes-models/cert-manager",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator",
};

/** The module of a kind: its type, and a class that validates by the schema of the API server. */
export function moduleOf({ apiVersion, kind }: Manifest): string {
  const [group = ""] = apiVersion.split("/");
  return `${CUSTOM[group] ?? "kubernetes-models"}/${apiVersion}/${kind}`;
}
