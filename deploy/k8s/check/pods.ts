import type { IContainer } from "kubernetes-models/v1/Container";
import type { IPodSpec } from "kubernetes-models/v1/PodSpec";
import { type Labels, type Manifest, nameOf } from "./manifests.ts";

/** What makes the Pods of a Deployment, StatefulSet or Job. */
export type Workload = {
  readonly name: string;
  readonly kind: string;
  readonly labels: Labels;
  readonly pod: IPodSpec;
};

type WithTemplate = {
  readonly template: { readonly metadata?: { readonly labels?: Labels }; readonly spec: IPodSpec };
};

const KINDS = new Set(["Deployment", "StatefulSet", "Job"]);
/** A kind that makes Pods and that no rule would see. */
const OTHERS = new Set(["Pod", "ReplicaSet", "DaemonSet", "CronJob", "ReplicationController"]);

export function workloadsIn(manifests: readonly Manifest[]): Workload[] {
  const unseen = manifests.filter(({ kind }) => OTHERS.has(kind));
  if (unseen.length > 0) throw new Error(`the check does not know the Pods of ${unseen.map(nameOf).join(", ")}`);
  return manifests
    .filter(({ kind }) => KINDS.has(kind))
    .map(({ kind, metadata, spec }) => {
      const { template } = spec as WithTemplate;
      return { kind, name: metadata.name, labels: template.metadata?.labels ?? {}, pod: template.spec };
    });
}

export function containersOf({ pod }: Workload): readonly IContainer[] {
  return [...(pod.initContainers ?? []), ...pod.containers];
}

export function matches(labels: Labels, selector: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}
