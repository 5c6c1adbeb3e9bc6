import { X509Certificate } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeRunFolder } from "../../test/support/run-folder.ts";
import { SERVICES } from "../local/settings.ts";
import { VOLUMES } from "./places.ts";
import { type Places, provideSecrets } from "./provide-secrets.ts";
import { container, readComposeFile } from "./testing/compose-file.ts";
import { type Program, PROGRAMS, readAs } from "./testing/programs.ts";

const A_PLATFORM = {
  MT5_URL: "https://mt5.example",
  MT5_LOGIN: "1007",
  MT5_PASSWORD: "Manager-1007",
  PAMM_QUIET_PERIOD: "PT5M",
  PAMM_REHEARSAL: "false",
};
const A_KEY = Buffer.alloc(32, 7).toString("base64");

type Environment = Readonly<Record<string, string>>;

/** Folders where Compose has volumes. */
function somePlaces(): Places {
  const folder = makeRunFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  for (const mount of container(readComposeFile(), "init-secrets").volumes ?? []) {
    const path = mount.split(":")[1]!;
    if (path.startsWith(VOLUMES)) mkdirSync(join(folder.path, path), { recursive: true });
  }
  return { vault: join(folder.path, "vault"), volumes: join(folder.path, VOLUMES) };
}

/** What `docker compose up` does first. */
async function up(env: Environment, places: Places): Promise<void> {
  await provideSecrets(container(readComposeFile(env), "init-secrets").environment ?? {}, places);
}

function filesIn({ volumes }: Places): string[] {
  const files = readdirSync(volumes, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(volumes, join(parentPath, name))).toSorted();
}

function told({ volumes }: Places, file: string): string {
  return readFileSync(join(volumes, file), "utf8");
}

/** What the service makes of its container: every mistake throws. */
function configurationOf(program: Program, env: Environment, { volumes }: Places): Readonly<Record<string, unknown>> {
  const { environment = {} } = container(readComposeFile(env), program);
  const here = Object.entries(environment).map(([name, text]) => [
    name,
    text.replace(/^\/run\/pamm/, join(volumes, program)),
  ]);
  return readAs(program, Object.fromEntries(here));
}

test("with nothing set, every service finds all that it needs, and what happens is a rehearsal", async () => {
  const places = somePlaces();
  await up({}, places);
  for (const program of PROGRAMS) expect(configurationOf(program, {}, places)).toHaveProperty("LOG_LEVEL", "info");
  expect(configurationOf("platform", {}, places)).toMatchObject({ PAMM_REHEARSAL: true, PAMM_QUIET_PERIOD: 20_000 });
  expect(configurationOf("simulator", {}, places)).toMatchObject({ SIM_IDLE_CLOSE: 10_000, MT5_LOGIN: 1000 });
});

test("each container is told what it works with, in files for nobody else", async () => {
  const places = somePlaces();
  await up({}, places);
  expect(filesIn(places)).toEqual([
    "account/database-url",
    "account/encryption-key",
    "account/nats-url",
    "edge/api-key",
    "edge/database-url",
    "edge/encryption-key",
    "edge/nats-url",
    "fee/database-url",
    "fee/nats-url",
    "funding/database-url",
    "funding/nats-url",
    "nats/nats.conf",
    "platform/ca.pem",
    "platform/database-url",
    "platform/mt5-password",
    "platform/nats-url",
    "postgres/password",
    "simulator-state/simulator/ca.pem",
    "simulator-state/simulator/tls-key.pem",
    "simulator/mt5-password",
    "subscription/database-url",
    "subscription/nats-url",
  ]);
  for (const service of SERVICES) {
    expect(told(places, `${service}/database-url`)).toMatch(/^postgres:\/\/pamm_[a-z]+:\w{48}@postgres:5432\/pamm$/);
    expect(told(places, `${service}/database-url`)).toContain(`pamm_${service}:`);
    expect(statSync(join(places.volumes, service, "database-url")).mode & 0o777).toBe(0o600);
  }
});

test("those who meet are told the same", async () => {
  const places = somePlaces();
  await up({}, places);
  expect(told(places, "account/encryption-key")).toBe(told(places, "edge/encryption-key"));
  expect(told(places, "platform/mt5-password")).toBe(told(places, "simulator/mt5-password"));
  const { password } = new URL(told(places, "fee/nats-url"));
  expect(told(places, "nats/nats.conf")).toContain(`password: "${password}"`);
  const certificate = new X509Certificate(told(places, "platform/ca.pem"));
  expect(told(places, "simulator-state/simulator/ca.pem")).toBe(told(places, "platform/ca.pem"));
  expect(certificate.checkHost("simulator")).toBe("simulator");
});

test("what was made is kept, whatever the operator brings in between", async () => {
  const places = somePlaces();
  await up({}, places);
  const made = filesIn(places).map((file) => [file, told(places, file)]);
  const brought = {
    PAMM_ENCRYPTION_KEY: A_KEY,
    PAMM_BOOTSTRAP_API_KEY: "a-key-of-the-operator",
    MT5_PASSWORD: "Manager-1007",
    NATS_URL: "nats://nats.example:4222",
    DATABASE_URL: "postgres://all@db.example/pamm",
    FEE_DATABASE_URL: "postgres://fee@db.example/pamm",
  };
  await up(brought, places);
  expect(told(places, "account/encryption-key")).toBe(A_KEY);
  expect(told(places, "edge/encryption-key")).toBe(A_KEY);
  expect(told(places, "edge/api-key")).toBe("a-key-of-the-operator");
  expect(told(places, "simulator/mt5-password")).toBe("Manager-1007");
  expect(told(places, "edge/nats-url")).toBe("nats://nats.example:4222");
  expect(told(places, "account/database-url")).toBe("postgres://all@db.example/pamm");
  expect(told(places, "fee/database-url")).toBe("postgres://fee@db.example/pamm");

  await up({}, places);
  expect(filesIn(places).map((file) => [file, told(places, file)])).toEqual(made);
});

test("a platform is not moved to with what is meant for the simulator", async () => {
  const places = somePlaces();
  const missing = ["MT5_LOGIN", "MT5_PASSWORD", "PAMM_QUIET_PERIOD", "PAMM_REHEARSAL"];
  const lines = missing.map((name) => `${name} is missing: MT5_URL names a platform, so the simulator's does not do`);
  await expect(up({ MT5_URL: "https://mt5.example" }, places)).rejects.toThrow(lines.join("\n"));
  expect(filesIn(places)).toEqual([]);
});

test("a platform is trusted as far as everybody trusts it, and no simulator is prepared", async () => {
  const places = somePlaces();
  await up(A_PLATFORM, places);
  expect(filesIn(places).filter((file) => file.startsWith("simulator-state/"))).toEqual([]);
  expect(told(places, "platform/ca.pem").match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(50);
  expect(configurationOf("platform", A_PLATFORM, places)).toMatchObject({
    MT5_URL: "https://mt5.example",
    MT5_LOGIN: "1007",
    PAMM_QUIET_PERIOD: 300_000,
    PAMM_REHEARSAL: false,
  });
});

test("what the operator misspelt is told without its value, and nothing is written", async () => {
  const places = somePlaces();
  const wrong = { PAMM_ENCRYPTION_KEY: "too-short", NATS_URL: "http://user:secret@nats" };
  const failure = await up(wrong, places).catch((error: unknown) => error);
  expect(String(failure)).toContain("PAMM_ENCRYPTION_KEY is not valid: expected 32 bytes in base64");
  expect(String(failure)).toContain("NATS_URL is not valid");
  expect(String(failure)).not.toMatch(/too-short|secret@/);
  expect(filesIn(places)).toEqual([]);
});
