import { expect, test } from "vitest";
import { migrationVariable } from "#kernel/migration.ts";
import { SERVICES } from "../local/settings.ts";
import { GENERATED_SECRETS, NATS_DATA, SIMULATOR_STATE, VOLUMES } from "./compose-names.ts";
import { container, readComposeFile, readFromRoot } from "./testing/compose-file.ts";
import { PROGRAMS, variablesOf } from "./testing/programs.ts";

const HARD_STOP_S = 15;
const OWN_IMAGE = "pamm-integration-service:local";
const ONE_SHOTS = ["init-secrets", "init-database", "init-streams", "migrate"];
/** The image starts as root, creates its folder and continues as another user. */
const STARTS_AS_ROOT = "postgres";

const compose = readComposeFile();
const containers = Object.entries(compose.services);
const dockerfile = readFromRoot("deploy/Dockerfile");

test("every program of the launcher has a container, with one command in the one image", () => {
  expect(Object.keys(compose.services).toSorted()).toEqual(
    [...SERVICES, "simulator", "postgres", "nats", ...ONE_SHOTS].toSorted(),
  );
  for (const program of PROGRAMS) {
    const { image, command } = container(compose, program);
    expect([program, image, command]).toEqual([program, OWN_IMAGE, ["node", `services/${program}/main.ts`]]);
  }
  expect(containers.filter(([, { build }]) => build !== undefined).map(([name]) => name)).toEqual(["init-secrets"]);
});

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

test("each image has a fixed version, and the Dockerfile loads no syntax image", () => {
  for (const [name, { image }] of containers) {
    expect([name, image]).toEqual([name, expect.stringMatching(/^[a-z-]+:(?!latest)[\w.-]+$/)]);
  }
  expect(dockerfile.match(/^FROM .*$/gm)).toEqual([
    "FROM node:24-bookworm-slim AS build",
    "FROM node:24-bookworm-slim",
  ]);
  expect(dockerfile).not.toMatch(/^# *syntax/m);
});

test("only the HTTP API and the simulator's control API are published, by default on the loopback address only", () => {
  const published = containers.filter(([, { ports }]) => ports !== undefined).map(([name, { ports }]) => [name, ports]);
  expect(Object.fromEntries(published)).toEqual({
    edge: ["127.0.0.1:8080:8080"],
    simulator: ["127.0.0.1:8444:8444"],
  });
  const open = readComposeFile({ PAMM_HTTP_HOST: "0.0.0.0", PAMM_HTTP_PORT: "80", SIM_CONTROL_PORT: "9" });
  expect(container(open, "edge").ports).toEqual(["0.0.0.0:80:8080"]);
  expect(container(open, "simulator").ports).toEqual(["127.0.0.1:9:8444"]);
  expect(container(compose, "edge").environment).toMatchObject({ PAMM_HTTP_PORT: "8080" });
  expect(container(compose, "simulator").environment).toMatchObject({ SIM_CONTROL_PORT: "8444" });
});

test("no container can write to its image, gain privileges, or keep those of root", () => {
  for (const [name, { read_only, cap_drop, cap_add = [], security_opt, user }] of containers) {
    expect([name, read_only, cap_drop, security_opt]).toEqual([name, true, ["ALL"], ["no-new-privileges:true"]]);
    if (name !== STARTS_AS_ROOT) expect([name, cap_add]).toEqual([name, []]);
    expect([name, user]).toEqual([name, name === "nats" ? "1000:1000" : undefined]);
  }
  expect(dockerfile.trimEnd().split("\n").at(-1)).toBe("USER 1000:1000");
});

test("only the platform service can reach the simulator", () => {
  const connected = containers.filter(([, { networks }]) => networks?.includes("platform")).map(([name]) => name);
  expect(connected).toEqual(["simulator", "platform"]);
  expect(container(compose, "simulator").networks).toEqual(["platform"]);
});

test("only the edge and platform have a way out of the network of the services, besides the simulator", () => {
  const isClosed = (name: string): boolean => compose.networks[name]?.internal === "true";
  const withWayOut = containers
    // Without any network.
    .filter(([, { networks, network_mode }]) => network_mode !== "none" && !(networks ?? ["default"]).every(isClosed))
    .map(([name]) => name);
  expect(withWayOut).toEqual(["simulator", "platform", "edge"]);
  expect(container(compose, "edge").networks).toEqual(["backbone", "api"]);
  expect(container(compose, "platform").networks).toEqual(["backbone", "platform"]);
  expect(containers.filter(([, { networks }]) => networks?.includes("api")).map(([name]) => name)).toEqual(["edge"]);
  // For a database or a broker outside.
  expect(readComposeFile({ PAMM_CLOSED_NETWORK: "false" }).networks["backbone"]).toEqual({ internal: "false" });
});

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
  for (const name of [...PROGRAMS, "postgres", "nats", "migrate", "init-streams"]) {
    expect(usersOf(`${name}-secrets`)).toEqual([
      `init-secrets ${name}-secrets:${VOLUMES}/${name}`,
      `${name} ${name}-secrets:/run/pamm:ro`,
    ]);
  }
  expect(usersOf("generated-secrets")).toEqual([
    `init-secrets generated-secrets:${GENERATED_SECRETS}`,
    `init-database generated-secrets:${GENERATED_SECRETS}:ro`,
  ]);
  expect(usersOf(SIMULATOR_STATE)[0]).toBe(`init-secrets ${SIMULATOR_STATE}:${VOLUMES}/${SIMULATOR_STATE}`);
  expect(usersOf("nats-data").at(-1)).toBe(`nats nats-data:${NATS_DATA}`);
  const used = new Set(mounts.map(([, mount]) => mount.split(":")[0]));
  expect([...used].toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
});

test("the image has a folder with the correct owner for each volume of the first container", () => {
  const { volumes = [] } = container(compose, "init-secrets");
  for (const volume of volumes) {
    const folder = volume.split(":")[1]!.slice(1);
    expect(dockerfile).toMatch(new RegExp(`[ ]${folder}[ ;]`));
  }
});

test("the file has no keys that only docker-compose 1.29 or only Docker Compose 2 accepts", () => {
  expect(compose).not.toHaveProperty("name");
  expect(compose).not.toHaveProperty("version");
});

test("servers that the operator names replace those of Compose", () => {
  const own = readComposeFile({
    MT5_URL: "https://mt5.example:443",
    MT5_CA_FILE: "/run/own/ca.pem",
    PAMM_LOCAL_POSTGRES: "0",
    PAMM_LOCAL_NATS: "0",
    PAMM_LOCAL_SIMULATOR: "0",
    DATABASE_URL: "postgres://db.example/pamm",
    NATS_URL: "tls://nats.example:4222",
  });
  expect(["postgres", "nats", "simulator"].map((name) => container(own, name).scale)).toEqual(["0", "0", "0"]);
  expect(container(own, "platform").environment).toMatchObject({
    MT5_URL: "https://mt5.example:443",
    MT5_CA_FILE: "/run/own/ca.pem",
  });
  expect(container(own, "init-secrets").environment).toMatchObject({
    DATABASE_URL: "postgres://db.example/pamm",
    NATS_URL: "tls://nats.example:4222",
  });
});
