import { mkdtempDisposableSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { IContainer } from "kubernetes-models/v1/Container";
import type { INetworkPolicySpec } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicySpec";
import { beforeAll, describe, expect, test } from "vitest";
import { findUnsafe } from "#kernel/production/find-unsafe.ts";
import { readAs, variablesOf } from "../compose/testing/programs.ts";
import { DASHBOARDS, textOf } from "../dashboards/generate.ts";
import { type Service, SERVICES } from "../provision/services.ts";
import { buildOverlay, type Manifest, type Overlay, OVERLAYS } from "./check/manifests.ts";
import { operationProblems } from "./check/operation.ts";
import { containersOf, matches, type Workload, workloadsIn } from "./check/pods.ts";
import { securityProblems } from "./check/security.ts";
import { type SecretFiles, secretsOf } from "./secrets.ts";
import { writtenManifests } from "./write-alerts.ts";

const CALLED = SERVICES.filter((service) => service !== "edge");
const MANAGER_SESSIONS = 16;
const CONNECTIONS_OF_A_PROCESS = 8;
/** `max_connections` of overlays/dev, less those that are kept for operators and Jobs. */
const CONNECTIONS = 290;

const built: Partial<Record<Overlay, readonly Manifest[]>> = {};
const secrets: Partial<Record<Overlay, SecretFiles>> = {};
beforeAll(async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "secrets-"));
  const own = {
    MT5_PASSWORD: "Abcdef12",
    DATABASE_URL: "postgres://rows:Qb7xW2@db.example.com/pamm?sslmode=verify-full",
    DATABASE_MIGRATION_URL: "postgres://owner:Zk4vR9@db.example.com/pamm?sslmode=verify-full",
  };
  for (const overlay of OVERLAYS) {
    built[overlay] = await buildOverlay(overlay);
    secrets[overlay] = await secretsOf(overlay, { env: overlay === "dev" ? {} : own, folder: folder.path });
  }
});

function workload(overlay: Overlay, name: string): Workload {
  const found = workloadsIn(built[overlay]!).find((each) => each.name === name);
  if (found === undefined) throw new Error(`${overlay} has no ${name}`);
  return found;
}

function find<Spec>(overlay: Overlay, kind: string, name: string): Spec {
  const found = built[overlay]!.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found === undefined) throw new Error(`${overlay} has no ${kind}/${name}`);
  return found.spec as Spec;
}

/** As the process sees it; a file of a Secret is replaced by its content. */
function environmentOf(overlay: Overlay, { pod }: Workload): { env: Record<string, string>; files: string[] } {
  const [container] = pod.containers;
  const maps = (container!.envFrom ?? []).map(({ configMapRef }) => configMapRef?.name);
  const settings = built[overlay]!.filter(({ kind, metadata }) => kind === "ConfigMap" && maps.includes(metadata.name));
  const given = Object.assign(
    {},
    ...settings.map((map) => (map as unknown as { data: Record<string, string> }).data),
    ...(container!.env ?? []).map(({ name, value = "" }) => ({ [name]: value })),
  ) as Record<string, string>;
  return { env: given, files: Object.values(given).filter((value) => value.startsWith("/run/pamm/")) };
}

/** As the service reads it, with the secrets that its Pod mounts. */
function configurationOf(overlay: Overlay, service: Service): Readonly<Record<string, unknown>> {
  const files = secrets[overlay]![service]!;
  const read = Object.entries(environmentOf(overlay, workload(overlay, service)).env).map(([name, value]) => {
    const content = files[value.replace("/run/pamm/", "")];
    return content === undefined ? [name, value] : [name.replace(/_FILE$/, ""), content];
  });
  return readAs(service, Object.fromEntries(read));
}

describe.each(OVERLAYS)("%s", (overlay) => {
  test("breaks no rule", () => {
    expect(securityProblems(built[overlay]!)).toEqual([]);
    expect(operationProblems(built[overlay]!)).toEqual([]);
  });

  test.each(SERVICES)("%s receives only variables that it reads, and can be started with them", (service) => {
    const { env } = environmentOf(overlay, workload(overlay, service));
    const known = variablesOf(service).flatMap(({ names }) => names);
    expect(Object.keys(env).filter((name) => !known.includes(name))).toEqual([]);

    expect(configurationOf(overlay, service)).toMatchObject({ PAMM_MIGRATE: "check" });
  });

  test.each(SERVICES)("%s has the secrets that it reads, and no others", (service) => {
    const { files } = environmentOf(overlay, workload(overlay, service));
    const own = Object.keys(secrets[overlay]![service]!).map((name) => `/run/pamm/${name}`);
    expect(files.toSorted()).toEqual(own.toSorted());
  });

  test("each Pod mounts its own Secret and its own certificate, and those that are mounted are made", () => {
    const made = Object.keys(secrets[overlay]!);
    const certificates = ["nats", ...CALLED].map((name) => `${name}-tls`);
    for (const { name, pod } of workloadsIn(built[overlay]!)) {
      const mounted = (pod.volumes ?? []).flatMap(({ secret }) => (secret === undefined ? [] : [secret]));
      const ofBroker = mounted.filter(({ secretName, items }) => secretName === "nats-tls" && items !== undefined);
      for (const { items } of ofBroker) expect(items).toEqual([{ key: "ca.crt", path: "ca.crt" }]);
      const own = mounted.filter((one) => !ofBroker.includes(one)).map(({ secretName }) => secretName);
      expect([name, own.filter((each) => each !== name && each !== `${name}-tls`)]).toEqual([name, []]);
      expect([...made, ...certificates]).toEqual(expect.arrayContaining(own));
    }
    expect(made.filter((name) => !workloadsIn(built[overlay]!).some((each) => each.name === name))).toEqual([]);
  });

  test("a service accepts calls from the services that have its address, and no others", () => {
    const calls = new Map(
      SERVICES.map((caller) => [caller, CALLED.filter((callee) => hasAddress(overlay, caller, callee))]),
    );
    expect([...calls.values()].flat().length).toBeGreaterThan(10);
    for (const service of CALLED) {
      const { ingress, egress } = find<INetworkPolicySpec>(overlay, "NetworkPolicy", `${service}-grpc`);
      const callers = SERVICES.filter((caller) => calls.get(caller)!.includes(service));
      expect([service, peersOf(ingress?.[0]?.from)]).toEqual([service, callers.toSorted()]);
      expect([service, peersOf(egress?.[0]?.to)]).toEqual([service, calls.get(service)!.toSorted()]);
      expect(find(overlay, "Service", service)).toMatchObject({ clusterIP: "None", ports: [{ port: 9000 }] });
    }
  });

  test("each certificate has the name of one service, for calls in both directions", () => {
    for (const service of CALLED) {
      expect(find(overlay, "Certificate", service)).toMatchObject({
        secretName: `${service}-tls`,
        dnsNames: [service],
        usages: ["digital signature", "server auth", "client auth"],
        issuerRef: { name: "services" },
      });
    }
  });

  test("the processes of all services have connections to Postgres, also during a roll-out", () => {
    const most = SERVICES.map((service) => {
      if (service === "platform") return find<{ replicas: number }>(overlay, "Deployment", service).replicas;
      return find<{ maxReplicas: number }>(overlay, "HorizontalPodAutoscaler", service).maxReplicas + 1;
    });
    expect(most.reduce((sum, count) => sum + count, 0) * CONNECTIONS_OF_A_PROCESS).toBeLessThanOrEqual(CONNECTIONS);
  });

  test("the processes of platform have no more sessions than a manager, also during a roll-out", () => {
    const { replicas, strategy } = find<{ replicas: number; strategy: unknown }>(overlay, "Deployment", "platform");
    const { MT5_SESSIONS: sessions = "8" } = environmentOf(overlay, workload(overlay, "platform")).env;
    expect(replicas * Number(sessions)).toBeLessThanOrEqual(MANAGER_SESSIONS);
    expect(strategy).toMatchObject({ rollingUpdate: { maxSurge: 0 } });
    expect(() => find(overlay, "HorizontalPodAutoscaler", "platform")).toThrow("has no");
  });

  test("every probe asks a port that its container has, for a path that the program answers", () => {
    for (const { name, pod } of workloadsIn(built[overlay]!)) {
      for (const container of pod.containers) {
        for (const { path, port } of asked(container)) {
          expect([name, container.ports?.map((each) => each.name)]).toEqual([name, expect.arrayContaining([port])]);
          if (SERVICES.includes(name as Service)) expect(["/healthz", "/readyz"]).toContain(path);
        }
      }
    }
  });

  test("both steps of a roll-out have the same image", () => {
    const images = workloadsIn(built[overlay]!)
      .flatMap(containersOf)
      .map(({ image = "" }) => image);
    expect(new Set(images.filter((image) => image.includes("pamm-integration-service"))).size).toBe(1);
  });

  test("the schema is migrated by the Job only, which alone has the URLs of the owners", () => {
    expect(workload(overlay, "migrate").kind).toBe("Job");
    const withOwners = Object.entries(secrets[overlay]!).filter(([, files]) => "fee-url" in files);
    expect(withOwners.map(([name]) => name)).toEqual(["migrate"]);
  });
});

function hasAddress(overlay: Overlay, caller: Service, callee: Service): boolean {
  const variable = `${callee.toUpperCase()}_GRPC_URL`;
  const { env } = environmentOf(overlay, workload(overlay, caller));
  if (env[variable] !== undefined) expect(env[variable]).toBe(`${callee}:9000`);
  return env[variable] !== undefined;
}

function peersOf(peers: readonly unknown[] = []): string[] {
  return peers
    .map((peer) => (peer as { podSelector: { matchLabels: Record<string, string> } }).podSelector.matchLabels)
    .map((labels) => labels["app.kubernetes.io/name"] ?? "")
    .toSorted();
}

function asked({ startupProbe, livenessProbe, readinessProbe }: IContainer) {
  return [startupProbe, livenessProbe, readinessProbe].flatMap((probe): { path?: string; port: unknown }[] => {
    const target = probe?.httpGet ?? probe?.tcpSocket;
    return target === undefined ? [] : [target];
  });
}

test("in production no rehearsal is permitted, and nothing stands in for what is real", () => {
  const manifests = built.production!;
  const standIns = workloadsIn(manifests).filter(({ name }) =>
    ["simulator", "postgres", "init-database"].includes(name),
  );
  expect(standIns).toEqual([]);
  for (const service of SERVICES) {
    const configuration = configurationOf("production", service);
    expect(configuration).toMatchObject({ PAMM_ENVIRONMENT: "production" });
    const { env } = environmentOf("production", workload("production", service));
    expect([service, findUnsafe(configuration, env)]).toEqual([service, []]);
    expect(findUnsafe(configurationOf("dev", service), env)).not.toEqual([]);
  }
  expect(configurationOf("production", "edge")).toMatchObject({ PAMM_SERVE_PAGES: false });
  const [streams] = workload("production", "init-streams").pod.containers;
  expect(streams!.env).toContainEqual({ name: "NATS_STREAM_REPLICAS", value: "3" });
  expect(find("production", "StatefulSet", "nats")).toMatchObject({ replicas: 3 });
});

const IN_PRODUCTION = join(import.meta.dirname, "overlays/production");
/** Names and networks that are kept for examples, and what only the owner of a deployment knows. */
const AN_EXAMPLE = /example\.com|192\.0\.2\.|newTag: \d|PAMM_TRUSTED_PROXIES|MT5_/;

test("what a deployment has to set is marked, and until then no caller can name the address that it has", () => {
  const files = readdirSync(IN_PRODUCTION, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".yaml"),
  );
  const unmarked = files.flatMap((file) => {
    // A mark is about the next line, and what is indented below it.
    let isNext = false;
    let marked = Infinity;
    return readFileSync(join(IN_PRODUCTION, file), "utf8")
      .split("\n")
      .filter((line) => {
        const indent = line.search(/\S/);
        if (line[indent] === "#") isNext ||= line.includes("# Replace: ");
        else {
          if (isNext || indent <= marked) marked = isNext ? indent : Infinity;
          isNext = false;
        }
        return AN_EXAMPLE.test(line) && marked === Infinity;
      });
  });
  expect(unmarked).toEqual([]);
  const { env } = environmentOf("production", workload("production", "edge"));
  expect(env["PAMM_TRUSTED_PROXIES"]).toMatch(/^192\.0\.2\./);
});

/** Of the workloads that may send to a peer outside of the namespace, by policy. */
test("in production only the services and the migration reach Postgres, and only platform the trading platform", () => {
  const ways = built
    .production!.filter(({ kind }) => kind === "NetworkPolicy")
    .map(({ metadata, spec }) => ({ name: metadata.name, spec: spec as INetworkPolicySpec }))
    .filter(({ spec }) => JSON.stringify(spec.egress ?? []).match(/ipBlock|namespaceSelector/))
    .map(({ name, spec }) => {
      const labels = spec.podSelector?.matchLabels ?? {};
      const reaching = workloadsIn(built.production!).filter((each) => matches(each.labels, labels));
      return [name, reaching.map((each) => each.name).toSorted()];
    });
  expect(Object.fromEntries(ways)).toEqual({
    database: [...SERVICES, "migrate"].toSorted(),
    names: [...SERVICES, "init-streams", "migrate", "nats"].toSorted(),
    "trading-platform": ["platform"],
    webhooks: ["edge"],
  });
});

test("the alerts are those of deploy/alerts, and inhibited as deploy/alertmanager says, in the namespace of the overlays", () => {
  for (const [name, text] of Object.entries(writtenManifests())) {
    const file = new URL(`components/observability/gen/${name}`, import.meta.url);
    expect(readFileSync(file, "utf8"), "written by `make alerts`").toBe(text);
  }
  type Rules = {
    readonly rules: readonly { readonly alert?: string; readonly labels?: { readonly namespace?: string } }[];
  };
  const { groups } = find<{ groups: readonly Rules[] }>("production", "PrometheusRule", "pamm");
  const alerts = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);
  const namespace = built.production?.find(({ kind }) => kind === "PrometheusRule")?.metadata.namespace;
  expect(namespace).toBeDefined();
  expect(new Set(alerts.map(({ labels }) => labels?.namespace))).toEqual(new Set([namespace]));
  const { inhibitRules } = find<{ inhibitRules: readonly unknown[] }>("production", "AlertmanagerConfig", "pamm");
  expect(inhibitRules.length).toBeGreaterThan(10);
});

test("each dashboard is a file of the ConfigMap", () => {
  const map = built.production!.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "dashboards");
  const { data } = map as unknown as { readonly data: Readonly<Record<string, string>> };
  const written = Object.entries(DASHBOARDS).map(([name, content]) => [`${name}.json`, textOf(content)]);
  expect(data, "written by `make dashboards`").toEqual(Object.fromEntries(written));
});
