import { expect, test } from "vitest";
import type { Manifest } from "./manifests.ts";
import { schemaProblems } from "./schemas.ts";
import { sound, soundBut } from "./testing.ts";

function custom(apiVersion: string, kind: string, spec: unknown): Manifest {
  return { apiVersion, kind, metadata: { name: "services" }, spec };
}

const CUSTOM = [
  custom("monitoring.coreos.com/v1", "PodMonitor", {
    selector: {},
    podMetricsEndpoints: [{ port: "metrics", interval: "15s" }],
  }),
  custom("monitoring.coreos.com/v1", "PrometheusRule", {
    groups: [{ name: "pamm", rules: [{ alert: "PammTest", expr: "up == 0", for: "2m" }] }],
  }),
  custom("cert-manager.io/v1", "Certificate", {
    secretName: "fee-tls",
    issuerRef: { name: "services" },
    privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
    usages: ["server auth"],
  }),
  custom("cert-manager.io/v1", "Issuer", { ca: { secretName: "authority-tls" } }),
];

/** Each is accepted by the type of its kind, apart from the permitted values. */
const WRONG: readonly [kind: string, path: string, value: unknown, message: string][] = [
  ["PodMonitor", "spec/podMetricsEndpoints/0/interval", "15 seconds", "interval must match pattern"],
  ["PrometheusRule", "spec/groups/0/rules/0/for", "2 m", "for must match pattern"],
  ["PrometheusRule", "spec/groups/0/name", "", "name must NOT be shorter"],
  ["Certificate", "spec/privateKey/rotationPolicy", "Sometimes", "rotationPolicy must be equal to one of"],
  ["Certificate", "spec/privateKey/size", 256.5, "size must be integer"],
  ["Issuer", "spec/ca", {}, "must have required property secretName"],
  ["Deployment", "spec/template/spec/containers/0/resources/requests/memory", "64 MB", 'format "quantity"'],
];

test("sound manifests fit their schemas", async () => {
  expect(await schemaProblems([...sound(), ...CUSTOM])).toEqual([]);
});

test.each(WRONG)("%s with another %s is refused", async (kind, path, value, message) => {
  const [problem, ...others] = await schemaProblems(
    soundBut(kind, path, value, [...sound(), ...structuredClone(CUSTOM)]),
  );
  expect(problem).toContain(`${kind}/`);
  expect(problem).toContain(message);
  expect(others).toEqual([]);
});

test("a kind that has no schema is refused", async () => {
  const [problem] = await schemaProblems([custom("monitoring.coreos.com/v1", "PodMonitors", {})]);
  expect(problem).toMatch(/^PodMonitors\/services: .*cannot find (?:module|package)/i);
});
