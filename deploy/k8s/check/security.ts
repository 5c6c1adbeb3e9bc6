import type { IContainer } from "kubernetes-models/v1/Container";
import type { INetworkPolicySpec } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicySpec";
import type { Manifest } from "./manifests.ts";
import { containersOf, type Workload, workloadsIn } from "./pods.ts";

/** What has to be true of a Pod, or of each of its containers, in the words of a message about one of which it is not. */
type PodRule = readonly [problem: string, holds: (workload: Workload) => boolean];
type ContainerRule = readonly [problem: string, holds: (container: IContainer) => boolean];

const POD_RULES: readonly PodRule[] = [
  ["may run as root", ({ pod }) => pod.securityContext?.runAsNonRoot === true && pod.securityContext.runAsUser !== 0],
  ["has no seccomp profile", ({ pod }) => pod.securityContext?.seccompProfile?.type === "RuntimeDefault"],
  ["gets a token of the API server", ({ pod }) => pod.automountServiceAccountToken === false],
  ["runs as the default account", ({ pod }) => !["", "default"].includes(pod.serviceAccountName ?? "")],
  [
    "is on the network, or among the processes, of its node",
    ({ pod }) => [pod.hostNetwork, pod.hostPID, pod.hostIPC].every((shared) => shared !== true),
  ],
  ["mounts a folder of its node", ({ pod }) => (pod.volumes ?? []).every(({ hostPath }) => hostPath === undefined)],
];

const CONTAINER_RULES: readonly ContainerRule[] = [
  ["may gain privileges", ({ securityContext: own }) => own?.allowPrivilegeEscalation === false && !own.privileged],
  ["can write to its image", ({ securityContext: own }) => own?.readOnlyRootFilesystem === true],
  [
    "keeps privileges of root",
    ({ securityContext: own }) =>
      own?.capabilities?.drop?.includes("ALL") === true && (own.capabilities.add ?? []).length === 0,
  ],
  ["takes a port of its node", ({ ports = [] }) => ports.every(({ hostPort }) => hostPort === undefined)],
  ["has no fixed version of its image", ({ image = "" }) => /:(?!latest$)[\w.-]+$|@sha256:[0-9a-f]{64}$/.test(image)],
  [
    "does not say what it needs of its node",
    ({ resources }) => resources?.requests?.["cpu"] !== undefined && resources.requests["memory"] !== undefined,
  ],
  ["may use all memory of its node", ({ resources }) => resources?.limits?.["memory"] !== undefined],
  ["has a secret in its environment", ({ env = [] }) => env.every(({ name, value }) => !isSecretValue(name, value))],
];

/** Names of docs/configuration.md that hold a secret; a name that ends with _FILE holds a path. */
const SECRET = /(PASSWORD|_KEY|_KEY_OLD|PEPPER|PEPPER_OLD|DATABASE_URL|MIGRATION_URL|NATS_URL|SETUP_URL)$/;

function isSecretValue(name: string, value: string | undefined): boolean {
  return value !== undefined && SECRET.test(name);
}

const LEVELS = ["enforce", "audit", "warn"].map((mode) => `pod-security.kubernetes.io/${mode}`);

/** What an attacker, or a mistake, could use. */
export function securityProblems(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsIn(manifests);
  return [
    ...workloads.flatMap((workload) => ofPod(workload)),
    ...namespaceProblems(manifests),
    ...accountProblems(manifests, workloads),
    ...manifests
      .filter(({ kind }) => kind === "Secret")
      .map(({ metadata }) => `Secret/${metadata.name}: is a part of the manifests`),
    ...manifests.flatMap((manifest) => settingProblems(manifest)),
  ];
}

function ofPod(workload: Workload): string[] {
  const name = `${workload.kind}/${workload.name}`;
  const wrong = POD_RULES.filter(([, holds]) => !holds(workload)).map(([problem]) => `${name}: ${problem}`);
  const inside = containersOf(workload).flatMap((container) =>
    CONTAINER_RULES.filter(([, holds]) => !holds(container)).map(
      ([problem]) => `${name}: container ${container.name} ${problem}`,
    ),
  );
  return [...wrong, ...inside];
}

/** Refuses at the API server what the rules above refuse here; and a network on which all is permitted. */
function namespaceProblems(manifests: readonly Manifest[]): string[] {
  const problems = manifests
    .filter(({ kind }) => kind === "Namespace")
    .filter(({ metadata }) => LEVELS.some((level) => metadata.labels?.[level] !== "restricted"))
    .map(({ metadata }) => `Namespace/${metadata.name}: does not refuse Pods that are not restricted`);
  const isClosed = manifests.some(
    ({ kind, spec }) => kind === "NetworkPolicy" && refusesAll(spec as INetworkPolicySpec),
  );
  return isClosed ? problems : [...problems, "no NetworkPolicy refuses what none permits"];
}

function refusesAll({ podSelector = {}, policyTypes = [], ingress = [], egress = [] }: INetworkPolicySpec): boolean {
  const isOfAll = Object.keys(podSelector).length === 0;
  return (
    isOfAll &&
    (["Ingress", "Egress"] as const).every((type) => policyTypes.includes(type)) &&
    ingress.length + egress.length === 0
  );
}

/** A Pod's account is one of these manifests, and gives no token either. */
function accountProblems(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  const accounts = manifests.filter(({ kind }) => kind === "ServiceAccount");
  const withToken = accounts
    .filter((account) => !("automountServiceAccountToken" in account) || account.automountServiceAccountToken !== false)
    .map(({ metadata }) => `ServiceAccount/${metadata.name}: gives Pods a token of the API server`);
  const known = new Set(accounts.map(({ metadata }) => metadata.name));
  const unknown = workloads
    .filter(({ pod }) => pod.serviceAccountName !== undefined && !known.has(pod.serviceAccountName))
    .map(({ kind, name }) => `${kind}/${name}: its account is not in the manifests`);
  return [...withToken, ...unknown];
}

/** A ConfigMap is readable by more people than a Secret. */
function settingProblems({ kind, metadata, ...rest }: Manifest): string[] {
  if (kind !== "ConfigMap") return [];
  const { data = {} } = rest as { readonly data?: Readonly<Record<string, string>> };
  return Object.keys(data)
    .filter((name) => isSecretValue(name, data[name]))
    .map((name) => `ConfigMap/${metadata.name}: has the secret ${name}`);
}
