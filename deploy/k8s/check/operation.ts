import type { Labels, Manifest } from "./manifests.ts";
import { matches, type Workload, workloadsIn } from "./pods.ts";

/** A process ends at most this long after SIGTERM: PAMM_DRAIN_DELAY, and the time in which it drains. */
const DRAINS_WITHIN_S = 20;

/** What would keep the system from running, or from being upgraded, without being wrong by its type. */
export function operationProblems(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsIn(manifests);
  const deployments = workloads.filter(({ kind }) => kind === "Deployment");
  return [
    ...workloads.filter(({ kind }) => kind !== "Job").flatMap(probeProblems),
    ...deployments.flatMap((deployment) => rollOutProblems(deployment, manifests)),
    ...manifests.flatMap((manifest) => selectorProblems(manifest, workloads)),
    ...manifests.flatMap((manifest) => scalingProblems(manifest, manifests)),
    ...workloads.flatMap((workload) => referenceProblems(workload, manifests)),
  ];
}

const PROBES = ["startupProbe", "livenessProbe", "readinessProbe"] as const;

function probeProblems({ kind, name, pod }: Workload): string[] {
  return pod.containers.flatMap((container) =>
    PROBES.filter((probe) => container[probe] === undefined).map((probe) => `${kind}/${name}: has no ${probe}`),
  );
}

function rollOutProblems({ name, labels, pod }: Workload, manifests: readonly Manifest[]): string[] {
  const problems: string[] = [];
  const sleeps = pod.containers.map(({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds ?? 0);
  if (Math.max(...sleeps) === 0) problems.push("is stopped before its callers know");
  if ((pod.terminationGracePeriodSeconds ?? 30) < Math.max(...sleeps) + DRAINS_WITHIN_S) {
    problems.push("is killed before it has drained");
  }
  if ((pod.topologySpreadConstraints ?? []).length === 0) problems.push("may have all of its Pods on one node");
  const budget = manifests.find(
    ({ kind, spec }) => kind === "PodDisruptionBudget" && matches(labels, selectorOf(spec).matchLabels ?? {}),
  );
  if (budget === undefined) problems.push("has no PodDisruptionBudget");
  return problems.map((problem) => `Deployment/${name}: ${problem}`);
}

type Selector = { readonly matchLabels?: Labels };

function selectorOf(spec: unknown): Selector {
  return (spec as { readonly selector?: Selector }).selector ?? {};
}

type ServiceSpec = {
  readonly selector?: Labels;
  readonly ports?: readonly { readonly targetPort?: string | number }[];
};

/** A selector that selects nothing is right by its type. */
function selectorProblems({ kind, metadata, spec }: Manifest, workloads: readonly Workload[]): string[] {
  const name = `${kind}/${metadata.name}`;
  if (kind === "Service") {
    const { selector = {}, ports = [] } = spec as ServiceSpec;
    const selected = workloads.filter(({ labels }) => matches(labels, selector));
    if (selected.length !== 1) return [`${name}: selects ${selected.length} workloads`];
    const named = selected.flatMap(({ pod }) => pod.containers.flatMap((container) => container.ports ?? []));
    return ports
      .filter(({ targetPort }) => !named.some((port) => port.name === targetPort))
      .map(({ targetPort }) => `${name}: the Pods have no port ${targetPort}`);
  }
  if (kind === "NetworkPolicy") {
    const { podSelector, ...rest } = spec as { readonly podSelector: Selector };
    return [podSelector, ...peersIn(rest)]
      .map(({ matchLabels = {} }) => matchLabels)
      .filter((labels) => !workloads.some((workload) => matches(workload.labels, labels)))
      .map((labels) => `${name}: ${JSON.stringify(labels)} selects no Pod`);
  }
  return [];
}

type Rules = {
  readonly ingress?: readonly { readonly from?: readonly Peer[] }[];
  readonly egress?: readonly { readonly to?: readonly Peer[] }[];
};
type Peer = { readonly podSelector?: Selector; readonly namespaceSelector?: Selector };

/** Of this namespace. */
function peersIn({ ingress = [], egress = [] }: Rules): Selector[] {
  const peers = [...ingress.flatMap(({ from = [] }) => from), ...egress.flatMap(({ to = [] }) => to)];
  return peers.flatMap(({ podSelector, namespaceSelector }) =>
    podSelector === undefined || namespaceSelector !== undefined ? [] : [podSelector],
  );
}

function scalingProblems({ kind, metadata, spec }: Manifest, manifests: readonly Manifest[]): string[] {
  if (kind !== "HorizontalPodAutoscaler") return [];
  const { scaleTargetRef: target } = spec as {
    readonly scaleTargetRef: { readonly kind: string; readonly name: string };
  };
  const scaled = manifests.find((other) => other.kind === target.kind && other.metadata.name === target.name);
  if (scaled === undefined) return [`HorizontalPodAutoscaler/${metadata.name}: scales nothing`];
  const isFixed = (scaled.spec as { readonly replicas?: number }).replicas !== undefined;
  return isFixed ? [`${target.kind}/${target.name}: each roll-out would undo its autoscaler`] : [];
}

/** A ConfigMap that does not exist, and a volume that is not mounted or not there. Secrets are made by another command. */
function referenceProblems({ kind, name, pod }: Workload, manifests: readonly Manifest[]): string[] {
  const maps = new Set(manifests.filter((one) => one.kind === "ConfigMap").map(({ metadata }) => metadata.name));
  const volumes = new Set((pod.volumes ?? []).map((volume) => volume.name));
  const claims = manifests
    .filter((one) => one.kind === kind && one.metadata.name === name)
    .flatMap(
      ({ spec }) => (spec as { readonly volumeClaimTemplates?: readonly Manifest[] }).volumeClaimTemplates ?? [],
    );
  for (const { metadata } of claims) volumes.add(metadata.name);
  const containers = [...(pod.initContainers ?? []), ...pod.containers];
  const mounted = new Set(containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map((mount) => mount.name)));
  return [
    ...containers
      .flatMap(({ envFrom = [] }) => envFrom.map(({ configMapRef }) => configMapRef?.name ?? ""))
      .filter((map) => !maps.has(map))
      .map((map) => `${kind}/${name}: the ConfigMap ${map} does not exist`),
    ...[...mounted]
      .filter((volume) => !volumes.has(volume))
      .map((volume) => `${kind}/${name}: the volume ${volume} does not exist`),
    ...[...volumes]
      .filter((volume) => !mounted.has(volume))
      .map((volume) => `${kind}/${name}: the volume ${volume} is not mounted`),
  ];
}
