import { expect, test } from "vitest";
import { operationProblems } from "./operation.ts";
import { sound, soundBut } from "./testing.ts";

const POD = "spec/template/spec";
const CONTAINER = `${POD}/containers/0`;

test("a sound system has no problem", () => {
  expect(operationProblems(sound())).toEqual([]);
});

test.each([
  ["Deployment", `${CONTAINER}/startupProbe`, undefined, "Deployment/fee: has no startupProbe"],
  ["Deployment", `${CONTAINER}/livenessProbe`, undefined, "Deployment/fee: has no livenessProbe"],
  ["Deployment", `${CONTAINER}/readinessProbe`, undefined, "Deployment/fee: has no readinessProbe"],
  ["Deployment", `${CONTAINER}/lifecycle`, undefined, "Deployment/fee: is stopped before its callers know"],
  ["Deployment", `${POD}/terminationGracePeriodSeconds`, 29, "Deployment/fee: is killed before it has drained"],
  ["Deployment", `${POD}/topologySpreadConstraints`, [], "Deployment/fee: may have all of its Pods on one node"],
  ["Deployment", "spec/replicas", 2, "Deployment/fee: each roll-out would undo its autoscaler"],
  ["PodDisruptionBudget", "spec/selector/matchLabels", { name: "f" }, "Deployment/fee: has no PodDisruptionBudget"],
  ["Service", "spec/selector", { name: "fees" }, "Service/fee: selects 0 workloads"],
  ["Service", "spec/ports/0/targetPort", "http", "Service/fee: the Pods have no port http"],
  ["NetworkPolicy", "spec/podSelector/matchLabels", { name: "x" }, 'NetworkPolicy/calls: {"name":"x"} selects no Pod'],
  [
    "NetworkPolicy",
    "spec/ingress/0/from/0/podSelector/matchLabels",
    { name: "x" },
    'NetworkPolicy/calls: {"name":"x"} selects no Pod',
  ],
  ["HorizontalPodAutoscaler", "spec/scaleTargetRef/name", "x", "HorizontalPodAutoscaler/fee: scales nothing"],
  ["ConfigMap", "metadata/name", "other", "Deployment/fee: the ConfigMap settings does not exist"],
])("%s %s = %j: %s", (kind, path, value, problem) => {
  expect(operationProblems(soundBut(kind, path, value))).toEqual([problem]);
});

test("a volume that is not mounted, and one that does not exist", () => {
  expect(operationProblems(soundBut("Deployment", `${CONTAINER}/volumeMounts/0/name`, "state"))).toEqual([
    "Deployment/fee: the volume state does not exist",
    "Deployment/fee: the volume secrets is not mounted",
  ]);
});
