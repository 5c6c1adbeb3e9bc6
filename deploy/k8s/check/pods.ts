import { type Labels, type Manifest, nameOf } from "./manifests.ts";

export type Container = {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly { readonly configMapRef?: { readonly name: string } }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number; readonly hostPort?: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly privileged?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  };
  readonly startupProbe?: unknown;
  readonly livenessProbe?: unknown;
  readonly readinessProbe?: unknown;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
};

export type Volume = {
  readonly name: string;
  readonly hostPath?: unknown;
  readonly secret?: { readonly secretName: string; readonly items?: readonly { readonly key: string }[] };
};

export type PodSpec = {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly topologySpreadConstraints?: readonly unknown[];
  readonly securityContext?: {
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly seccompProfile?: { readonly type: string };
  };
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
};

/** What makes the Pods of a Deployment, StatefulSet or Job. */
export type Workload = {
  readonly name: string;
  readonly kind: string;
  readonly labels: Labels;
  readonly pod: PodSpec;
};

type WithTemplate = {
  readonly template: { readonly metadata?: { readonly labels?: Labels }; readonly spec: PodSpec };
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

export function containersOf({ pod }: Workload): readonly Container[] {
  return [...(pod.initContainers ?? []), ...pod.containers];
}

export function matches(labels: Labels, selector: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}
