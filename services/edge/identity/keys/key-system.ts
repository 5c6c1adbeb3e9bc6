import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, type Environment, readConfig } from "#kernel/config.ts";
import { StartupError } from "#kernel/startup-error.ts";
import { keySettings } from "../../config.ts";

/** Written by the launcher of a local system: the addresses and files that this command needs. */
const RUN_FILE = join("run", "system.json");
const DEFAULT_STATE_DIR = ".state";

/** The system that the environment names, or else the one that runs from the same PAMM_STATE_DIR. */
export function readKeySystem(env: Environment) {
  const isNamed = ["EDGE_DATABASE_URL", "DATABASE_URL"].some((name) => isSet(env[name]) || isSet(env[`${name}_FILE`]));
  return readConfig(keySettings, isNamed ? env : { ...runningSystem(env), ...withoutEmpty(env) });
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
