import { Type } from "typebox";
import { databaseUrl } from "#kernel/backbone.ts";
import { duration, flag, list, optional, secret, secretKey, secretUrl, text, url } from "#kernel/config-pieces.ts";
import { type Environment, readConfig } from "#kernel/config.ts";
import type { Secret } from "#kernel/secret.ts";
import { StartupError } from "#kernel/startup-error.ts";
import { databaseVariable, type Service, SERVICES } from "../local/settings.ts";

const SCHEMA = Type.Object({
  NATS_URL: optional(secretUrl(["nats", "tls"])),
  PAMM_ENCRYPTION_KEY: optional(secretKey()),
  PAMM_BOOTSTRAP_API_KEY: optional(secret("a key")),
  MT5_URL: optional(url(["https"])),
  MT5_LOGIN: optional(text("the manager's login")),
  MT5_PASSWORD: optional(secret("the manager's API password")),
  PAMM_QUIET_PERIOD: optional(duration()),
  PAMM_REHEARSAL: optional(flag()),
  SIM_TLS_NAMES: optional(list()),
});

const DATABASES = Type.Object(
  Object.fromEntries(SERVICES.map((service) => [databaseVariable(service), optional(databaseUrl())])),
);

/** Whatever docker-compose.yml would say instead is meant for the simulator. */
const OF_A_PLATFORM = ["MT5_LOGIN", "MT5_PASSWORD", "PAMM_QUIET_PERIOD", "PAMM_REHEARSAL"] as const;

/** What the operator brings; what is undefined is made here. */
export type Given = {
  readonly natsUrl: string | undefined;
  readonly encryptionKey: string | undefined;
  readonly apiKey: string | undefined;
  readonly mt5Password: string | undefined;
  /** False = the environment names a platform. */
  readonly isSimulated: boolean;
  readonly tlsNames: readonly string[];
};

export function readGiven(env: Environment): Given {
  const read = readConfig(SCHEMA, env);
  const isSimulated = read.MT5_URL === undefined;
  const missing = isSimulated ? [] : OF_A_PLATFORM.filter((name) => read[name] === undefined);
  if (missing.length > 0) {
    throw new StartupError(
      missing.map((name) => `${name} is missing: MT5_URL names a platform, so the simulator's does not do`).join("\n"),
    );
  }
  return {
    natsUrl: read.NATS_URL?.reveal(),
    encryptionKey: read.PAMM_ENCRYPTION_KEY?.reveal().toString("base64"),
    apiKey: read.PAMM_BOOTSTRAP_API_KEY?.reveal(),
    mt5Password: read.MT5_PASSWORD?.reveal(),
    isSimulated,
    tlsNames: read.SIM_TLS_NAMES ?? [],
  };
}

export type GivenDatabases = (service: Service) => string | undefined;

/** A service's own, or the one that all share; undefined = the one that Compose starts. */
export function readGivenDatabases(env: Environment): GivenDatabases {
  const read: Record<string, Secret<string> | undefined> = readConfig(DATABASES, env);
  return (service) => read[databaseVariable(service)]?.reveal();
}
