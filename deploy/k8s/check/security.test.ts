import { expect, test } from "vitest";
import { securityProblems } from "./security.ts";
import { sound, soundBut } from "./testing.ts";

const POD = "spec/template/spec";
const CONTAINER = `${POD}/containers/0`;
const OWN = `${CONTAINER}/securityContext`;

test("a sound system has no problem", () => {
  expect(securityProblems(sound())).toEqual([]);
});

test.each([
  [`${POD}/securityContext/runAsNonRoot`, undefined, "may run as root"],
  [`${POD}/securityContext/runAsUser`, 0, "may run as root"],
  [`${POD}/securityContext/seccompProfile/type`, "Unconfined", "has no seccomp profile"],
  [`${POD}/automountServiceAccountToken`, undefined, "gets a token of the API server"],
  [`${POD}/serviceAccountName`, "default", "runs as the default account"],
  [`${POD}/serviceAccountName`, "other", "its account is not in the manifests"],
  [`${POD}/hostNetwork`, true, "is on the network, or among the processes, of its node"],
  [`${POD}/hostPID`, true, "is on the network, or among the processes, of its node"],
  [`${POD}/hostIPC`, true, "is on the network, or among the processes, of its node"],
  [`${POD}/volumes/0/hostPath`, { path: "/" }, "mounts a folder of its node"],
  [OWN, undefined, "may gain privileges"],
  [`${OWN}/allowPrivilegeEscalation`, undefined, "may gain privileges"],
  [`${OWN}/privileged`, true, "may gain privileges"],
  [`${OWN}/readOnlyRootFilesystem`, undefined, "can write to its image"],
  [`${OWN}/capabilities/drop`, ["KILL"], "keeps privileges of root"],
  [`${OWN}/capabilities/add`, ["NET_ADMIN"], "keeps privileges of root"],
  [`${CONTAINER}/ports/0/hostPort`, 80, "takes a port of its node"],
  [`${CONTAINER}/image`, "service", "has no fixed version of its image"],
  [`${CONTAINER}/image`, "service:latest", "has no fixed version of its image"],
  [`${CONTAINER}/resources/requests/cpu`, undefined, "does not say what it needs of its node"],
  [`${CONTAINER}/resources/limits`, undefined, "may use all memory of its node"],
  [`${CONTAINER}/env/0`, { name: "NATS_URL", value: "tls://a:b@nats" }, "has a secret in its environment"],
  [`${CONTAINER}/env/0`, { name: "FEE_DATABASE_URL", value: "postgres://a:b@c" }, "has a secret in its environment"],
])("%s = %j: the Pod or its container %s", (path, value, problem) => {
  expect(securityProblems(soundBut("Deployment", path, value)).join("\n")).toContain(problem);
});

test("an init container is held to the same", () => {
  const container = { name: "first", image: "service:1" };
  const problems = securityProblems(soundBut("Deployment", `${POD}/initContainers`, [container]));
  expect(problems).toContain("Deployment/fee: container first may gain privileges");
});

test.each(["enforce", "audit", "warn"])("a namespace that does not %s the restricted profile", (mode) => {
  const [first, ...others] = sound();
  const labels = { ...first!.metadata.labels, [`pod-security.kubernetes.io/${mode}`]: "baseline" };
  const weaker = [{ ...first!, metadata: { name: "pamm", labels } }, ...others];
  expect(securityProblems(weaker)).toEqual(["Namespace/pamm: does not refuse Pods that are not restricted"]);
});

test.each([
  ["podSelector", { matchLabels: { name: "fee" } }],
  ["policyTypes", ["Ingress"]],
  ["ingress", [{}]],
  ["egress", [{}]],
])("a network on which something is permitted by default: %s", (field, value) => {
  const manifests = sound().filter(({ metadata }) => metadata.name !== "calls");
  expect(securityProblems(soundBut("NetworkPolicy", `spec/${field}`, value, manifests))).toEqual([
    "no NetworkPolicy refuses what none permits",
  ]);
});

test("an account that gives tokens, a Secret, and a secret that is a setting", () => {
  expect(securityProblems(soundBut("ServiceAccount", "automountServiceAccountToken", undefined))).toEqual([
    "ServiceAccount/fee: gives Pods a token of the API server",
  ]);
  expect(securityProblems([...sound(), { apiVersion: "v1", kind: "Secret", metadata: { name: "fee" } }])).toEqual([
    "Secret/fee: is a part of the manifests",
  ]);
  expect(securityProblems(soundBut("ConfigMap", "data", { MT5_PASSWORD: "Abc1" }))).toEqual([
    "ConfigMap/settings: has the secret MT5_PASSWORD",
  ]);
});

test("a kind that makes Pods and is not known is refused", () => {
  const other = { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "x" } };
  expect(() => securityProblems([...sound(), other])).toThrow("does not know the Pods of DaemonSet/x");
});
