import { X509Certificate } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeRunFolder } from "../../test/support/run-folder.ts";
import { SERVICES } from "../provision/services.ts";
import { CLUSTER_MARK, NATS_NODES, SIMULATOR_STATE, VOLUMES } from "./compose-names.ts";
import { type Folders, provideSecrets } from "./provide-secrets.ts";
import { issueSimulatorCertificate } from "./simulator/issue-simulator-certificate.ts";
import { container, readComposeFile } from "./testing/compose-file.ts";
import { type Program, PROGRAMS, readAs } from "./testing/programs.ts";

const A_PLATFORM = {
  MT5_URL: "https://mt5.example",
  MT5_LOGIN: "1007",
  MT5_PASSWORD: "Manager-1007",
  MT5_TIME_ZONE: "America/New_York+07:00",
  PAMM_QUIET_PERIOD: "PT5M",
  PAMM_REHEARSAL: "false",
};
const A_KEY = Buffer.alloc(32, 7).toString("base64");

type Environment = Readonly<Record<string, string>>;

/** Folders in place of the volumes of Compose. */
function createFolders(): Folders {
  const folder = makeRunFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  for (const mount of container(readComposeFile(), "init-secrets").volumes ?? []) {
    const path = mount.split(":")[1]!;
    if (path.startsWith(VOLUMES)) mkdirSync(join(folder.path, path), { recursive: true });
  }
  return { generated: join(folder.path, "generated"), volumes: join(folder.path, VOLUMES) };
}

/** Runs init-secrets, the first container of `docker compose up`, with the environment that Compose gives it; before it those of the profiles. */
async function up(env: Environment, folders: Folders, { profiles = ["simulator"] } = {}): Promise<void> {
  if (profiles.includes("simulator") && env["MT5_URL"] === undefined) {
    const { environment = {} } = container(readComposeFile(env), "init-simulator");
    await issueSimulatorCertificate(environment, join(folders.volumes, SIMULATOR_STATE, "simulator"));
  }
  if (profiles.includes("cluster")) {
    mkdirSync(folders.generated, { recursive: true });
    writeFileSync(join(folders.generated, CLUSTER_MARK), "");
  }
  await provideSecrets(container(readComposeFile(env), "init-secrets").environment ?? {}, folders);
}

function filesIn({ volumes }: Folders): string[] {
  const files = readdirSync(volumes, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(volumes, join(parentPath, name))).toSorted();
}

function readSecret({ volumes }: Folders, file: string): string {
  return readFileSync(join(volumes, file), "utf8");
}

/** The configuration that the service reads in its container; throws when it is invalid. */
function configurationOf(program: Program, env: Environment, { volumes }: Folders): Readonly<Record<string, unknown>> {
  const { environment = {} } = container(readComposeFile(env), program);
  const here = Object.entries(environment).map(([name, text]) => [
    name,
    text.replace(/^\/run\/pamm/, join(volumes, program)),
  ]);
  return readAs(program, Object.fromEntries(here));
}

test("without any setting every service has its configuration, with a quiet period for the simulator only", async () => {
  const folders = createFolders();
  await up({}, folders);
  for (const program of PROGRAMS) expect(configurationOf(program, {}, folders)).toHaveProperty("LOG_LEVEL", "info");
  expect(configurationOf("platform", {}, folders)).toMatchObject({ PAMM_REHEARSAL: true, PAMM_QUIET_PERIOD: 20_000 });
  expect(configurationOf("simulator", {}, folders)).toMatchObject({ SIM_IDLE_CLOSE: 10_000, MT5_LOGIN: 1000 });
});

test("each container receives its own secrets only", async () => {
  const folders = createFolders();
  await up({}, folders);
  expect(filesIn(folders)).toEqual([
    "account/database-url",
    "account/encryption-key",
    "account/nats-ca.pem",
    "account/nats-url",
    "account/tls-ca.pem",
    "account/tls-key.pem",
    "account/tls.pem",
    "edge/api-key",
    "edge/api-key-pepper",
    "edge/database-url",
    "edge/nats-ca.pem",
    "edge/nats-url",
    "edge/webhook-key",
    "fee/database-url",
    "fee/nats-ca.pem",
    "fee/nats-url",
    "fee/tls-ca.pem",
    "fee/tls-key.pem",
    "fee/tls.pem",
    "funding/database-url",
    "funding/nats-ca.pem",
    "funding/nats-url",
    "funding/tls-ca.pem",
    "funding/tls-key.pem",
    "funding/tls.pem",
    "init-streams/nats-ca.pem",
    "init-streams/nats-setup-url",
    "init-streams/stream-replicas",
    "migrate/account-url",
    "migrate/edge-url",
    "migrate/fee-url",
    "migrate/funding-url",
    "migrate/platform-url",
    "migrate/subscription-url",
    "nats/ca.pem",
    "nats/nats.conf",
    "nats/tls-key.pem",
    "nats/tls.pem",
    "platform/ca.pem",
    "platform/database-url",
    "platform/mt5-password",
    "platform/nats-ca.pem",
    "platform/nats-url",
    "platform/tls-ca.pem",
    "platform/tls-key.pem",
    "platform/tls.pem",
    "postgres/password",
    "proxy/ca.pem",
    "proxy/tls.pem",
    "simulator-state/simulator/ca.pem",
    "simulator-state/simulator/tls-key.pem",
    "simulator/mt5-password",
    "subscription/database-url",
    "subscription/nats-ca.pem",
    "subscription/nats-url",
    "subscription/tls-ca.pem",
    "subscription/tls-key.pem",
    "subscription/tls.pem",
  ]);
  for (const service of SERVICES) {
    expect(readSecret(folders, `${service}/database-url`)).toMatch(
      /^postgres:\/\/pamm_[a-z]+:\w{48}@postgres:5432\/pamm$/,
    );
    expect(readSecret(folders, `${service}/database-url`)).toContain(`pamm_${service}:`);
    expect(readSecret(folders, `migrate/${service}-url`)).toMatch(
      new RegExp(`^postgres://pamm_${service}_owner:\\w{48}@postgres:5432/pamm$`),
    );
    expect(statSync(join(folders.volumes, service, "database-url")).mode & 0o777).toBe(0o600);
  }
});

test("containers that connect to each other receive the same secrets", async () => {
  const folders = createFolders();
  await up({}, folders);
  expect(readSecret(folders, "account/encryption-key")).not.toBe(readSecret(folders, "edge/api-key-pepper"));
  expect(readSecret(folders, "platform/mt5-password")).toBe(readSecret(folders, "simulator/mt5-password"));
  const users = SERVICES.map((service) => new URL(readSecret(folders, `${service}/nats-url`)));
  expect(users.map(({ username }) => username)).toEqual([...SERVICES]);
  expect(new Set(users.map(({ password }) => password)).size).toBe(SERVICES.length);
  for (const { username, password } of users) {
    expect(readSecret(folders, "nats/nats.conf")).toContain(
      `{"user":"${username}","password":"${password}","permissions"`,
    );
  }
  const setup = new URL(readSecret(folders, "init-streams/nats-setup-url"));
  expect(setup.username).toBe("operator");
  expect(readSecret(folders, "nats/nats.conf")).toContain(`{"user":"operator","password":"${setup.password}"}`);
  expect(users.map(({ password }) => password)).not.toContain(setup.password);
  const authority = readSecret(folders, "edge/nats-ca.pem");
  expect(readSecret(folders, "init-streams/nats-ca.pem")).toBe(authority);
  const broker = new X509Certificate(readSecret(folders, "nats/tls.pem"));
  expect(broker.checkHost(new URL(readSecret(folders, "fee/nats-url")).hostname)).toBe("nats");
  expect(broker.verify(new X509Certificate(authority).publicKey)).toBe(true);
  expect(authority).toBe(readSecret(folders, "fee/tls-ca.pem"));
  const certificate = new X509Certificate(readSecret(folders, "platform/ca.pem"));
  expect(readSecret(folders, "simulator-state/simulator/ca.pem")).toBe(readSecret(folders, "platform/ca.pem"));
  expect(certificate.checkHost("simulator")).toBe("simulator");
});

test("generated secrets are kept, also when the operator provides own secrets in between", async () => {
  const folders = createFolders();
  await up({}, folders);
  const generated = filesIn(folders).map((file) => [file, readSecret(folders, file)]);
  const provided = {
    PAMM_ENCRYPTION_KEY: A_KEY,
    PAMM_API_KEY_PEPPER: A_KEY,
    PAMM_BOOTSTRAP_API_KEY: "a-key-of-the-operator",
    MT5_PASSWORD: "Manager-1007",
    NATS_URL: "tls://nats.example:4222",
    DATABASE_URL: "postgres://all@db.example/pamm",
    FEE_DATABASE_URL: "postgres://fee@db.example/pamm",
    FEE_DATABASE_MIGRATION_URL: "postgres://fee_owner@db.example/pamm",
  };
  await up(provided, folders);
  expect(readSecret(folders, "account/encryption-key")).toBe(A_KEY);
  expect(readSecret(folders, "edge/api-key-pepper")).toBe(A_KEY);
  expect(readSecret(folders, "edge/api-key")).toBe("a-key-of-the-operator");
  expect(readSecret(folders, "simulator/mt5-password")).toBe("Manager-1007");
  expect(readSecret(folders, "edge/nats-url")).toBe("tls://nats.example:4222");
  // The operator sets up the streams: the user of the broker that Compose starts is of no use there.
  expect(readSecret(folders, "init-streams/nats-setup-url")).toBe("");
  await up({ ...provided, NATS_SETUP_URL: "tls://operator@nats.example:4222" }, folders);
  expect(readSecret(folders, "init-streams/nats-setup-url")).toBe("tls://operator@nats.example:4222");
  expect(readSecret(folders, "edge/nats-url")).toBe("tls://nats.example:4222");
  expect(readSecret(folders, "edge/nats-ca.pem").match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(50);
  expect(readSecret(folders, "account/database-url")).toBe("postgres://all@db.example/pamm");
  expect(readSecret(folders, "fee/database-url")).toBe("postgres://fee@db.example/pamm");
  expect(readSecret(folders, "migrate/fee-url")).toBe("postgres://fee_owner@db.example/pamm");
  // The operator migrates it: the owner of the database that Compose starts is of no use there.
  expect(readSecret(folders, "migrate/account-url")).toBe("");

  await up({}, folders);
  expect(filesIn(folders).map((file) => [file, readSecret(folders, file)])).toEqual(generated);
});

test("with a database of the operator for one service, every role of the other database has its password", async () => {
  const folders = createFolders();
  await up({ FEE_DATABASE_URL: "postgres://fee@db.example/pamm" }, folders);
  const generated = readdirSync(join(folders.generated, "secret"));
  for (const service of SERVICES) {
    const role = `postgres-password-${service}`;
    expect(generated).toEqual(expect.arrayContaining([role, `${role}-owner`]));
  }
});

test("a real platform requires its own settings", async () => {
  const folders = createFolders();
  const missing = ["MT5_LOGIN", "MT5_PASSWORD", "MT5_TIME_ZONE", "PAMM_QUIET_PERIOD", "PAMM_REHEARSAL"];
  const lines = missing.map(
    (name) => `${name} is missing: MT5_URL names a trading platform, and the default is for the simulator`,
  );
  await expect(up({ MT5_URL: "https://mt5.example" }, folders)).rejects.toThrow(lines.join("\n"));
  expect(filesIn(folders)).toEqual([]);
});

test("the certificate of a real platform is checked with the public authorities, and no simulator is prepared", async () => {
  const folders = createFolders();
  await up(A_PLATFORM, folders);
  expect(filesIn(folders).filter((file) => file.startsWith("simulator-state/"))).toEqual([]);
  expect(readSecret(folders, "platform/ca.pem").match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(50);
  expect(configurationOf("platform", A_PLATFORM, folders)).toMatchObject({
    MT5_URL: "https://mt5.example",
    MT5_LOGIN: "1007",
    MT5_TIME_ZONE: "America/New_York+07:00",
    PAMM_QUIET_PERIOD: 300_000,
    PAMM_REHEARSAL: false,
  });
});

test("an invalid setting is reported without its value, and no file is written", async () => {
  const folders = createFolders();
  const wrong = { PAMM_ENCRYPTION_KEY: "too-short", NATS_URL: "nats://user:secret@nats" };
  const failure = await up(wrong, folders, { profiles: [] }).catch((error: unknown) => error);
  expect(String(failure)).toContain("PAMM_ENCRYPTION_KEY is not valid: expected 32 bytes in base64");
  expect(String(failure)).toContain("NATS_URL is not valid");
  expect(String(failure)).not.toMatch(/too-short|secret@/);
  expect(filesIn(folders)).toEqual([]);
});

test("without a platform and without the simulator nothing starts, and no file is written", async () => {
  const folders = createFolders();
  await expect(up({}, folders, { profiles: [] })).rejects.toThrow(
    "MT5_URL is not set, and there is no simulator: name a trading platform, or start with COMPOSE_PROFILES=simulator",
  );
  expect(filesIn(folders)).toEqual([]);
});

test("in a cluster every node of the broker has its own certificate, and the database is found by its proxy", async () => {
  const folders = createFolders();
  await up({}, folders, { profiles: ["simulator", "cluster"] });
  const ca = new X509Certificate(readSecret(folders, "nats/ca.pem"));
  for (const node of NATS_NODES) {
    const certificate = new X509Certificate(readSecret(folders, `${node}/tls.pem`));
    expect([node, certificate.checkHost(node), certificate.verify(ca.publicKey)]).toEqual([node, node, true]);
    const configuration = readSecret(folders, `${node}/nats.conf`);
    expect(configuration).toContain(`server_name: "${node}"`);
    for (const other of NATS_NODES) expect(configuration).toContain(`@${other}:6222`);
    expect(configuration).toContain('"verify":true');
  }
  const urls = readSecret(folders, "fee/nats-url").split(",");
  expect(urls.map((url) => new URL(url).host)).toEqual(NATS_NODES.map((node) => `${node}:4222`));
  expect(configurationOf("fee", {}, folders)).toHaveProperty("LOG_LEVEL", "info");
  expect(readSecret(folders, "init-streams/stream-replicas")).toBe("3");
  expect(new URL(readSecret(folders, "fee/database-url")).host).toBe("database:5432");
  expect(new URL(readSecret(folders, "migrate/fee-url")).host).toBe("database:5432");
  expect(readSecret(folders, "postgres-standby/replication-password")).toBe(
    readSecret(folders, "postgres/replication-password"),
  );
});

test("the certificate of the proxy has the names that the operator adds, and is issued again for others", async () => {
  const folders = createFolders();
  await up({}, folders);
  const first = new X509Certificate(readSecret(folders, "proxy/tls.pem"));
  expect([first.checkHost("localhost"), first.checkIP("127.0.0.1"), first.checkHost("pamm.example")]).toEqual([
    "localhost",
    "127.0.0.1",
    undefined,
  ]);
  await up({}, folders);
  expect(new X509Certificate(readSecret(folders, "proxy/tls.pem")).fingerprint256).toBe(first.fingerprint256);
  await up({ PAMM_TLS_NAMES: "pamm.example" }, folders);
  expect(new X509Certificate(readSecret(folders, "proxy/tls.pem")).checkHost("pamm.example")).toBe("pamm.example");
});
