import { beforeAll, expect, test } from "vitest";
import { buildOverlay, type Manifest } from "./manifests.ts";
import { securityProblems } from "./security.ts";

const POD = "spec/template/spec";
const CONTAINER = `${POD}/containers/0`;
const OWN = `${CONTAINER}/securityContext`;

let production: readonly Manifest[];
beforeAll(async () => {
  production = await buildOverlay("production");
});

/** The manifests of production, in which one of a kind has another value at a path; undefined removes what is there. */
function productionBut([kind, name]: readonly [kind: string, name: RegExp], path: string, value: unknown): Manifest[] {
  const manifests = structuredClone([...production]);
  const keys = path.split("/");
  const last = keys.pop() ?? "";
  const target = manifests.find((manifest) => manifest.kind === kind && name.test(manifest.metadata.name));
  const parent = keys.reduce<unknown>((inside, key) => (inside as Record<string, unknown> | undefined)?.[key], target);
  if (parent === undefined) throw new Error(`${kind} has no ${path}`);
  Object.assign(parent as object, { [last]: value });
  return manifests;
}

const DEPLOYMENT = ["Deployment", /^fee$/] as const;

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
  expect(securityProblems(productionBut(DEPLOYMENT, path, value)).join("\n")).toContain(problem);
});

test("an init container is held to the same", () => {
  const container = { name: "first", image: "service:1" };
  const problems = securityProblems(productionBut(DEPLOYMENT, `${POD}/initContainers`, [container]));
  expect(problems).toContain("Deployment/fee: container first may gain privileges");
});

test.each(["enforce", "audit", "warn"])("a namespace that does not %s the restricted profile", (mode) => {
  const namespace = production.find(({ kind }) => kind === "Namespace");
  const labels = { ...namespace?.metadata.labels, [`pod-security.kubernetes.io/${mode}`]: "baseline" };
  expect(securityProblems(productionBut(["Namespace", /^pamm$/], "metadata/labels", labels))).toEqual([
    "Namespace/pamm: does not refuse Pods that are not restricted",
  ]);
});

test.each([
  ["podSelector", { matchLabels: { name: "fee" } }],
  ["policyTypes", ["Ingress"]],
  ["ingress", [{}]],
  ["egress", [{}]],
])("a network on which something is permitted by default: %s", (field, value) => {
  const open = productionBut(["NetworkPolicy", /^nothing-by-default$/], `spec/${field}`, value);
  expect(securityProblems(open)).toEqual(["no NetworkPolicy refuses what none permits"]);
});

test("an account that gives tokens, a Secret, and a secret that is a setting", () => {
  const account = productionBut(["ServiceAccount", /^fee$/], "automountServiceAccountToken", undefined);
  expect(securityProblems(account)).toEqual(["ServiceAccount/fee: gives Pods a token of the API server"]);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "fee" } };
  expect(securityProblems([...production, secret])).toEqual(["Secret/fee: is a part of the manifests"]);
  expect(securityProblems(productionBut(["ConfigMap", /^fee-/], "data", { MT5_PASSWORD: "Abc1" }))).toEqual([
    expect.stringMatching(/^ConfigMap\/fee-\w+: has the secret MT5_PASSWORD$/),
  ]);
});

test("a kind that makes Pods and is not known is refused", () => {
  const other = { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "x" } };
  expect(() => securityProblems([...production, other])).toThrow("does not know the Pods of DaemonSet/x");
});
