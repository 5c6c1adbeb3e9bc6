import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { systemClock } from "#kernel/values/clock.ts";
import { optional, secretKey, secretUrls, text } from "#kernel/process/config-variables.ts";
import { type Config, ConfigError, type Environment, readConfig } from "#kernel/process/config.ts";
import { createLog } from "#kernel/process/log.ts";
import { databaseUrl, requireSchema } from "#kernel/postgres/migration.ts";
import { type Broker, connectNats } from "#kernel/nats/connect.ts";
import { createPool } from "#kernel/postgres/pool.ts";
import { readCertificates } from "#kernel/certificates/read-certificates.ts";
import { StartupError } from "#kernel/process/startup-error.ts";
import { ApiKeysChanged } from "#proto/pamm/edge/v1/events.ts";
import { pepperOf } from "./api-key.ts";
import { KEYS_CHANGED } from "./key-ring.ts";
import type { KeyAdministration } from "./manage-keys.ts";

const SCHEMA = "edge";

/** When the environment names the system. */
const settings = {
  EDGE_DATABASE_URL: databaseUrl(),
  PAMM_API_KEY_PEPPER: secretKey(),
  NATS_URL: optional(secretUrls(["nats", "tls"])),
  NATS_CA_FILE: optional(text("a file with certificates in PEM")),
};

/** Written by the launcher of a local system: the addresses and files that this command needs. */
const RUN_FILE = join("run", "system.json");
const DEFAULT_STATE_DIR = ".state";

/** The keys of the system that the environment names, with its connections; throws `StartupError` or `ConfigError` when it cannot be reached. */
export async function openKeySystem(
  resources: AsyncDisposableStack,
  env: Environment,
  note: (line: string) => void,
  actor = userInfo().username,
): Promise<KeyAdministration> {
  const config = readSettings(env);
  const url = config.EDGE_DATABASE_URL.reveal();
  const folder = new URL("../../migrations/", import.meta.url);
  await requireSchema({ url, schema: SCHEMA, folder, mayOwnTables: true });
  const pool = resources.use(createPool({ url, schema: SCHEMA, applicationName: "keys", max: 1 }));
  const broker = await findBroker(config, note);
  if (broker !== undefined) resources.use(broker);
  return {
    pool,
    pepper: pepperOf(config.PAMM_API_KEY_PEPPER),
    now: systemClock,
    actor,
    async announce(keyId) {
      broker?.connection.publish(KEYS_CHANGED, ApiKeysChanged.encode({ keyId }).finish());
      await broker?.connection.flush();
    },
  };
}

/** Without a broker the edge sees the change within seconds, because it reads its keys periodically. */
async function findBroker(
  { NATS_URL, NATS_CA_FILE }: Config<typeof settings>,
  note: (line: string) => void,
): Promise<Broker | undefined> {
  const ca = readCertificates("NATS_CA_FILE", NATS_CA_FILE);
  if (NATS_URL === undefined) return undefined;
  try {
    return await connectNats({
      url: NATS_URL.reveal(),
      ca,
      name: SCHEMA,
      log: createLog({ service: "keys", level: "silent" }),
    });
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    note("keys: The broker cannot be reached. The change takes effect within a few seconds.");
    return undefined;
  }
}

/** The system that the environment names, or else the one that runs from the same PAMM_STATE_DIR. */
function readSettings(env: Environment) {
  const isNamed = ["EDGE_DATABASE_URL", "DATABASE_URL"].some((name) => isSet(env[name]) || isSet(env[`${name}_FILE`]));
  return readConfig(settings, isNamed ? env : { ...runningSystem(env), ...withoutEmpty(env) });
}

function runningSystem(env: Environment): Environment {
  const file = join(isSet(env["PAMM_STATE_DIR"]) ? env["PAMM_STATE_DIR"] : DEFAULT_STATE_DIR, RUN_FILE);
  if (!existsSync(file)) {
    throw new StartupError(
      `No running system found (${file} does not exist). Start it, or set DATABASE_URL or PAMM_STATE_DIR.`,
    );
  }
  const { edgeDatabaseUrl, natsUrl, natsCaFile, pepperFile } = readRunFile(file);
  const hasOwnPepper = isSet(env["PAMM_API_KEY_PEPPER"]) || isSet(env["PAMM_API_KEY_PEPPER_FILE"]);
  return {
    EDGE_DATABASE_URL: edgeDatabaseUrl,
    NATS_URL: natsUrl,
    NATS_CA_FILE: natsCaFile,
    PAMM_API_KEY_PEPPER_FILE: hasOwnPepper ? undefined : pepperFile,
  };
}

type RunFile = { readonly [Name in "edgeDatabaseUrl" | "natsUrl" | "natsCaFile" | "pepperFile"]?: string };

function readRunFile(file: string): RunFile {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    const members = Object.entries(content ?? {}).filter(([, value]) => typeof value === "string");
    return Object.fromEntries(members);
  } catch {
    throw new ConfigError([`${file} cannot be read: is the system still starting?`]);
  }
}

function withoutEmpty(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => isSet(value)));
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
