import { duration, flag, list, optional, secretUrls, text, timeZone, url } from "#kernel/process/config-variables.ts";
import { type Environment, readConfig } from "#kernel/process/config.ts";
import { databaseUrl, migrationUrl, migrationVariable } from "#kernel/postgres/migration.ts";
import { StartupError } from "#kernel/process/startup-error.ts";
import { OWN_SECRETS, SECRET_VARIABLES, type SecretVariable } from "./secrets.ts";
import { databaseVariable, type Service, SERVICES } from "./services.ts";

const OWN = Object.fromEntries(SECRET_VARIABLES.map((name) => [name, optional(OWN_SECRETS[name].form)]));

const SETTINGS = {
  /** A broker on the way to which others could read passwords and forge commands is refused. */
  NATS_URL: optional(secretUrls(["tls"])),
  NATS_SETUP_URL: optional(secretUrls(["tls"])),
  ...(OWN as Record<SecretVariable, (typeof OWN)[string]>),
  MT5_URL: optional(url(["https"])),
  MT5_LOGIN: optional(text("the manager's login")),
  MT5_TIME_ZONE: optional(timeZone()),
  PAMM_QUIET_PERIOD: optional(duration()),
  PAMM_REHEARSAL: optional(flag()),
  PAMM_TLS_NAMES: optional(list()),
};

const DATABASES = Object.fromEntries(
  SERVICES.flatMap((service) => [
    [databaseVariable(service), optional(databaseUrl())] as const,
    [migrationVariable(service), optional(migrationUrl())] as const,
  ]),
);

/** With a real platform these are required: the defaults of docker-compose.yml are for the simulator. */
const REQUIRED_WITH_PLATFORM = [
  "MT5_LOGIN",
  "MT5_PASSWORD",
  "MT5_TIME_ZONE",
  "PAMM_QUIET_PERIOD",
  "PAMM_REHEARSAL",
] as const;

export type OperatorSettings = {
  readonly natsUrl: string | undefined;
  /** The same broker, with a user who may change streams; undefined = the operator sets them up. */
  readonly natsSetupUrl: string | undefined;
  /** What is undefined is generated. */
  readonly own: Readonly<Record<SecretVariable, string | undefined>>;
  /** False = the environment names a trading platform. */
  readonly isSimulated: boolean;
  /** Names and addresses under which clients reach the API, besides those of this machine. */
  readonly apiNames: readonly string[];
};

export function readOperatorSettings(env: Environment): OperatorSettings {
  const read = readConfig(SETTINGS, env);
  const isSimulated = read.MT5_URL === undefined;
  const missing = isSimulated ? [] : REQUIRED_WITH_PLATFORM.filter((name) => read[name] === undefined);
  if (missing.length > 0) {
    throw new StartupError(
      missing
        .map((name) => `${name} is missing: MT5_URL names a trading platform, and the default is for the simulator`)
        .join("\n"),
    );
  }
  return {
    natsUrl: read.NATS_URL?.reveal(),
    natsSetupUrl: read.NATS_SETUP_URL?.reveal(),
    own: Object.fromEntries(
      SECRET_VARIABLES.map((name) => [name, textOf(read[name]?.reveal())]),
    ) as OperatorSettings["own"],
    isSimulated,
    apiNames: read.PAMM_TLS_NAMES ?? [],
  };
}

function textOf(value: Buffer | string | undefined): string | undefined {
  return Buffer.isBuffer(value) ? value.toString("base64") : value;
}

export type DatabaseUrls = {
  /** The service's own URL, or the shared one; undefined = the database of the deployment. */
  readonly of: (service: Service) => string | undefined;
  /** The same for the owner of the schema. */
  readonly ofOwner: (service: Service) => string | undefined;
  /** Whether no service uses the database of the deployment. */
  readonly areAll: boolean;
};

export function readDatabaseUrls(env: Environment): DatabaseUrls {
  const read = readConfig(DATABASES, env);
  const of = (service: Service): string | undefined => read[databaseVariable(service)]?.reveal();
  return {
    of,
    areAll: SERVICES.every((service) => of(service) !== undefined),
    ofOwner: (service) => read[migrationVariable(service)]?.reveal(),
  };
}
