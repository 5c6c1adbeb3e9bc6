import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { migrationVariable } from "#kernel/postgres/migration.ts";
import { SERVICES } from "../provision/services.ts";
import { GENERATED_SECRETS, NATS_DATA, NATS_NODES, SIMULATOR_STATE, VOLUMES } from "./compose-names.ts";
import { container, readComposeFile, readFromRoot } from "./testing/compose-file.ts";
import { PROGRAMS, variablesOf } from "./testing/programs.ts";

const HARD_STOP_S = 15;
const PRODUCT = "pamm-integration-service:local";
const SIMULATOR = "pamm-simulator:local";
const ONE_SHOTS = [
  "init-secrets",
  "init-database",
  "init-streams",
  "init-simulator",
  "init-cluster",
  "init-replication",
  "migrate",
];
const STORES = ["postgres", ...NATS_NODES.slice(0, 1)];
const CLUSTER = ["postgres-standby", "database", ...NATS_NODES.slice(1)];
const OBSERVERS = ["prometheus", "alertmanager", "tempo", "grafana"];
/** Its image starts as root, creates its folder and continues as another user. */
const STARTS_AS_ROOT = ["postgres", "postgres-standby"];
const RUNS_AS: Readonly<Record<string, string>> = Object.fromEntries(
  ["proxy", "database", ...NATS_NODES].map((name) => [name, "1000:1000"]),
);

const compose = readComposeFile();
const containers = Object.entries(compose.services);
const dockerfile = readFromRoot("deploy/Dockerfile");

test("every program of the launcher has a container, with one command in the one image", () => {
  expect(Object.keys(compose.services).toSorted()).toEqual(
    [...SERVICES, "simulator", "proxy", ...STORES, ...CLUSTER, ...OBSERVERS, ...ONE_SHOTS].toSorted(),
  );
  for (const program of PROGRAMS) {
    const { image, command } = container(compose, program);
    const ofProgram = program === "simulator" ? SIMULATOR : PRODUCT;
    expect([program, image, command]).toEqual([program, ofProgram, ["node", `services/${program}/main.ts`]]);
  }
});

test("each image is built once, from the target of its name, with a base that the operator can name by digest", () => {
  const node = "node:24-bookworm-slim@sha256:0123";
  const { services } = readComposeFile({ NODE_IMAGE: node, PAMM_VERSION: "1.2.3", PAMM_REVISION: "abc" });
  const built = Object.entries(services).flatMap(([name, { build, image }]) =>
    build === undefined ? [] : [[name, image, build.target, build.args]],
  );
  const args = { NODE_IMAGE: node, VERSION: "1.2.3", REVISION: "abc" };
  expect(built).toEqual([
    ["init-secrets", PRODUCT, "product", args],
    ["init-simulator", SIMULATOR, "simulator", args],
  ]);
});

test("the profiles add what the product does not need", () => {
  const named = (profile: string | undefined): string[] =>
    containers.filter(([, { profiles }]) => profiles?.[0] === profile).map(([name]) => name);
  expect(named("simulator")).toEqual(["init-simulator", "simulator"]);
  expect(named("observability")).toEqual(OBSERVERS);
  expect(named("cluster").toSorted()).toEqual([...CLUSTER, "init-cluster", "init-replication"].toSorted());
  expect(named(undefined).toSorted()).toEqual(
    [...SERVICES, "proxy", ...STORES, "init-secrets", "init-database", "init-streams", "migrate"].toSorted(),
  );
});

test("what is in no profile starts without the containers of the profiles", () => {
  for (const [name, { profiles, depends_on = {} }] of containers) {
    if (profiles !== undefined) continue;
    for (const [needed, { required }] of Object.entries(depends_on)) {
      const isOptional = container(compose, needed).profiles !== undefined;
      expect([name, needed, required ?? true]).toEqual([name, needed, !isOptional]);
    }
  }
});

test("every container has a limit of memory, processor and threads, and a service more memory than it was measured with", () => {
  for (const [name, { mem_limit, cpus, pids_limit }] of containers) {
    expect([name, mem_limit]).toEqual([name, expect.stringMatching(/^\d+[mg]$/)]);
    expect([name, Number(cpus) > 0, (pids_limit ?? 0) > 0]).toEqual([name, true, true]);
  }
  const measured = [...readFromRoot("docs/performance.md").matchAll(/^\| (\w+) \| ([\d.]+) \| [\d.]+ \| [\d.]+ \|$/gm)];
  expect(measured.map(([, name]) => name)).toEqual(expect.arrayContaining([...PROGRAMS, "nats"]));
  for (const [, name = "", largest] of measured) {
    expect([name, mebibytes(container(compose, name).mem_limit) > 2 * Number(largest)]).toEqual([name, true]);
  }
});

function mebibytes(limit = "0m"): number {
  return Number.parseInt(limit, 10) * (limit.endsWith("g") ? 1_024 : 1);
}

/** Failpoints are for tests: no container can arm them. The commit is part of the image. The URL of a schema's owner is in the container `migrate` only. */
const NEVER_SET = ["PAMM_FAILPOINTS", "PAMM_COMMIT", ...SERVICES.map(migrationVariable)];

test("a service receives only variables that it reads, and each of its variables can be set", () => {
  for (const program of PROGRAMS) {
    const received = Object.keys(container(compose, program).environment ?? {});
    const known = variablesOf(program);
    expect([program, received.filter((name) => !known.some(({ names }) => names.includes(name)))]).toEqual([
      program,
      [],
    ]);
    const configurable = [...received, ...NEVER_SET];
    const missing = known.filter(({ names }) => !names.some((name) => configurable.includes(name)));
    expect([program, missing.map(({ names }) => names[0])]).toEqual([program, []]);
  }
});

test("a secret is in the environment of a service only when the operator sets it", () => {
  for (const program of PROGRAMS) {
    const { environment = {} } = container(compose, program);
    const secrets = variablesOf(program).filter(({ isSecret }) => isSecret);
    const plain = secrets.flatMap(({ names }) => names.filter((name) => !name.endsWith("_FILE") && environment[name]));
    expect([program, plain]).toEqual([program, []]);
  }
});

test("Grafana does not start without the dashboards", () => {
  const { services } = parse(readFromRoot("docker-compose.yml"), { merge: true, maxAliasCount: -1 }) as {
    services: { grafana: { volumes: unknown[] } };
  };
  const source = "./deploy/dashboards/gen";
  expect(services.grafana.volumes).toContainEqual(
    expect.objectContaining({ type: "bind", source, bind: { create_host_path: false } }),
  );
});

test("each image has a fixed version, and the Dockerfile loads no image but the one that the operator can name", () => {
  for (const [name, { image }] of containers) {
    expect([name, image]).toEqual([name, expect.stringMatching(/^[a-z/-]+:(?!latest)[\w.-]+$/)]);
  }
  expect(dockerfile.match(/^FROM .*$/gm)).toEqual([
    "FROM ${NODE_IMAGE} AS packages",
    "FROM packages AS pages",
    "FROM packages AS build",
    "FROM ${NODE_IMAGE} AS runtime",
    "FROM scratch AS base",
    "FROM base AS simulator",
    "FROM base AS product",
  ]);
  expect(dockerfile).not.toMatch(/^# *syntax/m);
});

test("nothing runs in the final images: they contain no shell", () => {
  const [, final = ""] = dockerfile.split("FROM scratch AS base");
  expect(final.match(/^(?!COPY|ENV|ARG|LABEL|USER|WORKDIR|FROM|#|\s|$).*$/gm)).toBeNull();
  for (const [name, { image, command, healthcheck, entrypoint }] of containers) {
    if (image !== PRODUCT && image !== SIMULATOR) continue;
    expect([name, command?.[0], entrypoint]).toEqual([name, "node", undefined]);
    if (healthcheck !== undefined) expect(healthcheck.test.slice(0, 2)).toEqual(["CMD", "node"]);
  }
});

test("the product image contains no simulator, launcher, demo or test, and the simulator image no service", () => {
  const [, simulator = "", product = ""] = dockerfile.split(/^FROM base AS \w+$/m);
  expect(copiedFrom(simulator)).toEqual([
    "proto",
    "services/catalogue",
    "services/kernel",
    "simulator",
    "deploy/compose/probe.mjs",
    "deploy/compose/compose-names.ts",
    "deploy/provision/one-shot.ts",
    "init-simulator",
  ]);
  expect(copiedFrom(product)).toEqual(["proto", "services", "deploy", "dist", "compile-cache"]);
  expect(dockerfile).toContain(
    "rm -r deploy/image deploy/client deploy/console deploy/docs deploy/static services/client services/console \\\n" +
      "      services/edge/api/samples services/edge/api/documented-routes.ts \\\n",
  );
  expect(dockerfile).toContain("mv services/simulator simulator && mv deploy/compose/simulator init-simulator");
  const sent = readFromRoot(".dockerignore")
    .split("\n")
    .filter((line) => line.startsWith("!"));
  expect(sent).toEqual(
    [
      "package.json",
      "package-lock.json",
      ".npmrc",
      "tsconfig.json",
      "proto",
      "services",
      ...["client", "compose", "console", "docs", "image/sbom.mjs", "nats", "postgres", "provision", "static"].map(
        (name) => `deploy/${name}`,
      ),
      "docs/integrate.md",
      "docs/integrate",
    ].map((path) => `!${path}`),
  );
});

function copiedFrom(stage: string): string[] {
  const copies = [...stage.matchAll(/^COPY --from=build (.*) \S+$/gm)];
  return copies.flatMap(([, sources = ""]) => sources.split(" ").map((path) => path.replace("/app/", "")));
}

test("only the proxy is published, and to this machine the simulator's control API, the alerts and the dashboards", () => {
  const published = containers.filter(([, { ports }]) => ports !== undefined).map(([name, { ports }]) => [name, ports]);
  expect(Object.fromEntries(published)).toEqual({
    proxy: ["127.0.0.1:8443:8443"],
    simulator: ["127.0.0.1:8444:8444"],
    alertmanager: ["127.0.0.1:9093:9093"],
    grafana: ["127.0.0.1:3000:3000"],
  });
  const open = readComposeFile({
    PAMM_HTTPS_HOST: "0.0.0.0",
    PAMM_HTTPS_PORT: "443",
    SIM_CONTROL_PORT: "9",
    GRAFANA_PORT: "8",
    ALERTMANAGER_PORT: "7",
    ALERTMANAGER_FILE: "/etc/own.yml",
  });
  expect(container(open, "proxy").ports).toEqual(["0.0.0.0:443:8443"]);
  expect(container(open, "simulator").ports).toEqual(["127.0.0.1:9:8444"]);
  expect(container(open, "grafana").ports).toEqual(["127.0.0.1:8:3000"]);
  expect(container(open, "alertmanager").ports).toEqual(["127.0.0.1:7:9093"]);
  expect(container(open, "alertmanager").volumes?.[0]).toBe("/etc/own.yml:/etc/alertmanager/alertmanager.yml:ro");
  expect(container(compose, "edge").environment).toMatchObject({ PAMM_HTTP_PORT: "8080" });
  expect(container(compose, "simulator").environment).toMatchObject({ SIM_CONTROL_PORT: "8444" });
});

test("no container can write to its image, gain privileges, or keep those of root", () => {
  for (const [name, { read_only, cap_drop, cap_add = [], security_opt, user }] of containers) {
    expect([name, read_only, cap_drop, security_opt]).toEqual([name, true, ["ALL"], ["no-new-privileges:true"]]);
    if (!STARTS_AS_ROOT.includes(name)) expect([name, cap_add]).toEqual([name, []]);
    expect([name, user]).toEqual([name, RUNS_AS[name]]);
  }
  expect(dockerfile.match(/^USER .*$/gm)).toEqual(["USER 1000:1000", "USER 1000:1000"]);
});

test("only the platform service can reach the simulator", () => {
  expect(on("trading")).toEqual(["simulator", "platform"]);
  expect(container(compose, "simulator").networks).toEqual(["trading", "local"]);
});

test("only the platform service has a way out; the edge is reached by the proxy", () => {
  const outwards = Object.entries(compose.networks)
    .filter(([, network]) => network?.internal === undefined && network?.driver_opts === undefined)
    .map(([name]) => name);
  expect(outwards).toEqual(["outside"]);
  expect(on("outside")).toEqual(["platform"]);
  for (const name of ["public", "local"]) {
    expect(compose.networks[name]?.driver_opts).toEqual({ "com.docker.network.bridge.enable_ip_masquerade": "false" });
  }
  // A container without networks would be on one of Docker's own.
  const unplaced = containers.filter(
    ([, { networks, network_mode }]) => networks === undefined && network_mode !== "none",
  );
  expect(unplaced.map(([name]) => name)).toEqual([]);
  expect(on("public")).toEqual(["proxy"]);
  expect(on("local")).toEqual(["simulator", "alertmanager", "grafana"]);
  expect(on("front")).toEqual(["edge", "proxy", "prometheus"]);
  expect(on("webhooks")).toEqual(["edge"]);
  expect(readComposeFile({ PAMM_CLOSED_WEBHOOKS: "false" }).networks["webhooks"]).toEqual({ internal: "false" });
  // For a database or a broker outside.
  expect(readComposeFile({ PAMM_CLOSED_NETWORK: "false" }).networks["backbone"]).toEqual({ internal: "false" });
});

test("the edge believes addresses of clients that the proxy names, and no others", () => {
  for (const env of [{}, { PAMM_FRONT_NETWORK: "10.9.8.0/24" }]) {
    const file = readComposeFile(env);
    const subnet = file.networks["front"]?.ipam?.config[0]?.subnet;
    expect(container(file, "edge").environment?.["PAMM_TRUSTED_PROXIES"]).toBe(subnet);
  }
});

function on(network: string): string[] {
  return containers.filter(([, { networks }]) => networks?.includes(network)).map(([name]) => name);
}

test("a service has more time to drain than its hard stop, and depends on the containers that must stop later", () => {
  for (const program of PROGRAMS) {
    const { stop_grace_period = "0s", depends_on = {} } = container(compose, program);
    expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(HARD_STOP_S);
    if (program === "simulator") continue;
    expect(Object.keys(depends_on)).toEqual(expect.arrayContaining(["migrate", "init-streams", "postgres", "nats"]));
    if (program !== "platform" && program !== "edge") expect(depends_on).toHaveProperty("platform");
  }
  const beforeEdge = Object.keys(container(compose, "edge").depends_on ?? {});
  expect(beforeEdge).toEqual(expect.arrayContaining(SERVICES.filter((service) => service !== "edge")));
});

test("each container can read its own secrets only; the init containers can read the generated ones", () => {
  const mounts = containers.flatMap(([name, { volumes = [] }]) => volumes.map((volume) => [name, volume] as const));
  const usersOf = (volume: string): string[] =>
    mounts.filter(([, mount]) => mount.startsWith(`${volume}:`)).map(([name, mount]) => `${name} ${mount}`);
  for (const name of [...PROGRAMS, "postgres", "postgres-standby", ...NATS_NODES, "migrate", "init-streams"]) {
    expect(usersOf(`${name}-secrets`)).toEqual([
      `init-secrets ${name}-secrets:${VOLUMES}/${name}`,
      `${name} ${name}-secrets:/run/pamm:ro`,
    ]);
  }
  expect(usersOf("proxy-secrets")).toEqual([
    `init-secrets proxy-secrets:${VOLUMES}/proxy`,
    "proxy proxy-secrets:/run/pamm:ro",
  ]);
  expect(usersOf("generated-secrets")).toEqual([
    `init-secrets generated-secrets:${GENERATED_SECRETS}`,
    `init-cluster generated-secrets:${GENERATED_SECRETS}`,
    `init-replication generated-secrets:${GENERATED_SECRETS}`,
    `init-database generated-secrets:${GENERATED_SECRETS}:ro`,
  ]);
  expect(usersOf(SIMULATOR_STATE)).toEqual([
    `init-secrets ${SIMULATOR_STATE}:${VOLUMES}/${SIMULATOR_STATE}:ro`,
    `init-simulator ${SIMULATOR_STATE}:/var/lib/pamm`,
    `simulator ${SIMULATOR_STATE}:/var/lib/pamm`,
  ]);
  for (const node of NATS_NODES) expect(usersOf(`${node}-data`).at(-1)).toBe(`${node} ${node}-data:${NATS_DATA}`);
  const [files, used] = partition([...new Set(mounts.map(([, mount]) => mount.split(":")[0] ?? ""))]);
  // Files of the repository, which contain no secret.
  expect(files.filter((file) => !existsSync(join(import.meta.dirname, "../..", file)))).toEqual([]);
  expect(mounts.filter(([, mount]) => mount.startsWith("./") && !mount.endsWith(":ro"))).toEqual([]);
  expect([...used].toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
});

test("the image has a folder with the correct owner for each volume of the first container", () => {
  const { volumes = [] } = container(compose, "init-secrets");
  expect(volumes).not.toEqual([]);
  for (const volume of volumes) {
    const folder = volume.split(":")[1]!.slice(1);
    expect(dockerfile).toMatch(new RegExp(`[ ]${folder}[ ;]`));
  }
});

/** Paths, and names of volumes. */
function partition(sources: readonly string[]): [string[], string[]] {
  return [sources.filter((source) => source.startsWith("./")), sources.filter((source) => !source.startsWith("./"))];
}

test("servers that the operator names replace those of Compose", () => {
  const own = readComposeFile({
    MT5_URL: "https://mt5.example:443",
    MT5_CA_FILE: "/run/own/ca.pem",
    PAMM_LOCAL_POSTGRES: "0",
    PAMM_LOCAL_NATS: "0",
    DATABASE_URL: "postgres://db.example/pamm",
    NATS_URL: "tls://nats.example:4222",
  });
  expect(["postgres", "nats"].map((name) => container(own, name).scale)).toEqual(["0", "0"]);
  expect(container(own, "platform").environment).toMatchObject({
    MT5_URL: "https://mt5.example:443",
    MT5_CA_FILE: "/run/own/ca.pem",
  });
  expect(container(own, "init-secrets").environment).toMatchObject({
    DATABASE_URL: "postgres://db.example/pamm",
    NATS_URL: "tls://nats.example:4222",
  });
});
