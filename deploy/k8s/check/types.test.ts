import { expect, test } from "vitest";
import type { Manifest } from "./manifests.ts";
import { sound, soundBut } from "./testing.ts";
import { typeProblems } from "./types.ts";

const monitor: Manifest = {
  apiVersion: "monitoring.coreos.com/v1",
  kind: "PodMonitor",
  metadata: { name: "services" },
  spec: { selector: {}, podMetricsEndpoints: [{ port: "metrics" }] },
};
const certificate: Manifest = {
  apiVersion: "cert-manager.io/v1",
  kind: "Certificate",
  metadata: { name: "fee" },
  spec: { secretName: "fee-tls", issuerRef: { name: "services" }, usages: ["server auth"] },
};

const CONTAINER = "spec/template/spec/containers/0";

/** One compilation for all, because each takes seconds; a message begins with the name of its manifest. */
const WRONG: readonly [manifest: Manifest, message: string][] = (
  [
    ["Deployment", `${CONTAINER}/imagePulPolicy`, "Always", "imagePulPolicy"],
    ["Deployment", `${CONTAINER}/securityContext/readOnlyRootFilesytem`, true, "readOnlyRootFilesytem"],
    ["Deployment", "spec/replicas", "2", "Type 'string' is not assignable to type 'number'"],
    ["Deployment", "spec/selector", undefined, "Property '\"selector\"' is missing"],
    ["Deployment", `${CONTAINER}/name`, undefined, "Property '\"name\"' is missing"],
    ["Service", "metadata/lables", {}, "lables"],
    ["Service", "spec/ports/0/targetport", 1, "targetport"],
    ["HorizontalPodAutoscaler", "spec/behaviour", {}, "behaviour"],
    ["NetworkPolicy", "spec/ingres", [], "ingres"],
    ["PodDisruptionBudget", "spec/maxUnavailable", [1], "is not assignable to type"],
    ["PodMonitor", "spec/podMetricsEndpoints/0/intervall", "15s", "intervall"],
    ["PodMonitor", "spec/selector", undefined, "Property '\"selector\"' is missing"],
    ["Certificate", "spec/usages", ["server"], "is not assignable to type"],
    ["Certificate", "spec/dnsName", "fee", "dnsName"],
  ] as const
).map(([kind, path, value, message], index) => {
  const others = structuredClone([monitor, certificate]);
  const changed = soundBut(kind, path, value, [...sound(), ...others]).findLast((one) => one.kind === kind)!;
  return [
    { ...changed, metadata: { ...changed.metadata, name: `wrong-${index}` } },
    `${kind}/wrong-${index}: .*${message}`,
  ];
});

test("fields that do not exist, values of another type and missing fields are refused, and nothing else is", () => {
  const problems = typeProblems([...sound(), monitor, certificate, ...WRONG.map(([manifest]) => manifest)]);
  for (const [, message] of WRONG) expect(problems.join("\n")).toMatch(new RegExp(message));
  expect(problems.filter((problem) => !problem.includes("/wrong-"))).toEqual([]);
});

test("a kind that has no type is refused", () => {
  const [problem] = typeProblems([{ apiVersion: "apps/v2", kind: "Deployment", metadata: { name: "x" } }]);
  expect(problem).toMatch(/^Deployment\/x: Cannot find module 'kubernetes-models\/apps\/v2\/Deployment'/);
});
