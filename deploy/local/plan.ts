import { join } from "node:path";
import { DEFAULT_IDLE_CLOSE_MS, DEFAULT_TIME_ZONE } from "../../services/simulator/settings.ts";
import { serviceUrl } from "../provision/database.ts";
import { brokerCertificate, identityVariables } from "../provision/identities.ts";
import { natsUrl } from "../provision/nats-configuration.ts";
import { freePort } from "./ports.ts";
import { OWN_SECRETS, SECRET_VARIABLES, type SecretVariable, type Secrets } from "../provision/secrets.ts";
import { type Program, type Readiness, scriptOf } from "./service-process.ts";
import { databaseVariable, LOOPBACK, type Service, SERVICES } from "../provision/services.ts";
import { isSet, logFolder, type Settings } from "./settings.ts";
import { pidFile } from "./state.ts";

export type LaunchContext = {
  /** The folder that holds `services`. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  readonly secrets: Secrets;
};

/** Addresses of the stores that the launcher started; undefined = the environment names one. */
export type Stores = { readonly postgresPort: number | undefined; readonly natsPort: number | undefined };

/** Short, as the simulator runs on this machine: after a lost answer a caller does not wait for minutes. */
const QUIET_PERIOD_MS = 20_000;
const MANAGER_LOGIN = "1000";

/** The processes that receive each secret, and each variable that a service would not know. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(SECRET_VARIABLES.map((name) => [name, OWN_SECRETS[name].of])),
  PAMM_STATE_DIR: ["simulator"],
  // Of the operator only.
  NATS_SETUP_URL: [],
};

export function planSimulator(context: LaunchContext): Program {
  const { settings } = context;
  return program(context, "simulator", {
    readiness: { host: LOOPBACK, port: settings.controlPort, path: "/control/stats" },
    env: {
      SIM_PORT: String(settings.simulatorPort),
      SIM_CONTROL_PORT: String(settings.controlPort),
      SIM_IDLE_CLOSE: inSeconds(idleCloseMs(settings)),
    },
  });
}

export async function planServices(context: LaunchContext, stores: Stores): Promise<Record<Service, Program>> {
  const { settings } = context;
  const addresses: NodeJS.ProcessEnv = {};
  const ports = new Map<Service, number>();
  for (const service of SERVICES) {
    const port = await freePort();
    ports.set(service, port);
    if (service !== "edge") addresses[`${service.toUpperCase()}_GRPC_URL`] = `${LOOPBACK}:${port}`;
  }
  const planned: [Service, Program][] = [];
  for (const service of SERVICES) {
    const isEdge = service === "edge";
    const metricsPort = isEdge ? settings.metricsPort : await freePort();
    const readiness: Readiness = isEdge
      ? { host: reachable(settings.httpHost), port: settings.httpPort, path: "/readyz" }
      : { host: LOOPBACK, port: metricsPort, path: "/readyz" };
    const env = {
      ...addresses,
      ...storeVariables(context, service, stores),
      ...identityVariables(settings.stateDir, service),
      GRPC_HOST: LOOPBACK,
      GRPC_PORT: String(ports.get(service)),
      PAMM_METRICS_PORT: String(metricsPort),
      PAMM_HTTP_HOST: settings.httpHost,
      PAMM_HTTP_PORT: String(settings.httpPort),
    };
    planned.push([service, program(context, service, { readiness, env })]);
  }
  return Object.fromEntries(planned) as Record<Service, Program>;
}

/** The address at which a client calls a server that listens on every address. */
export function reachable(host: string): string {
  if (host === "0.0.0.0") return LOOPBACK;
  return host === "::" ? "::1" : host;
}

function program(context: LaunchContext, name: string, own: { readiness: Readiness; env: NodeJS.ProcessEnv }): Program {
  const { root, settings } = context;
  return {
    name,
    root,
    script: scriptOf(name),
    readiness: own.readiness,
    logFile: join(logFolder(settings), `${name}.log`),
    pidFile: pidFile(settings.stateDir, name),
    env: {
      // A service that was started before compiles nothing.
      NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compile"),
      // As in the image.
      NODE_OPTIONS: "--max-semi-space-size=8",
      MALLOC_ARENA_MAX: "1",
      // A simulator moves no real money.
      ...(settings.embedded.simulator ? { PAMM_REHEARSAL: "true" } : {}),
      ...inherited(context.env, name),
      ...secretVariables(context, name),
      ...platformVariables(context, name),
      ...own.env,
    },
  };
}

/** The operator's variables, without the secrets of other processes and those of the owners of the schemas. */
function inherited(env: NodeJS.ProcessEnv, name: string): NodeJS.ProcessEnv {
  const belongsToOther = (variable: string): boolean => {
    const plain = variable.replace(/_FILE$/, "");
    const owners = OWNERS[plain.replace(/_OLD$/, "")];
    if (owners !== undefined) return !owners.includes(name);
    if (plain.endsWith("DATABASE_MIGRATION_URL")) return true;
    return plain.endsWith("_DATABASE_URL") && plain !== databaseVariable(name);
  };
  return Object.fromEntries(Object.entries(env).filter(([variable]) => !belongsToOther(variable)));
}

function secretVariables({ env, secrets, settings }: LaunchContext, name: string): NodeJS.ProcessEnv {
  const isGenerated = (variable: SecretVariable): boolean =>
    OWNERS[variable]?.includes(name) === true &&
    !isSet(env, variable) &&
    (variable !== "MT5_PASSWORD" || settings.embedded.simulator);
  return Object.fromEntries(SECRET_VARIABLES.filter(isGenerated).map((variable) => [variable, secrets.own[variable]]));
}

function platformVariables({ env, settings }: LaunchContext, name: string): NodeJS.ProcessEnv {
  if (!settings.embedded.simulator) return {};
  const isDated = name === "platform" || name === "edge" || name === "subscription";
  const zone =
    isDated && !isSet(env, "MT5_TIME_ZONE") ? { MT5_TIME_ZONE: env["SIM_TIME_ZONE"] ?? DEFAULT_TIME_ZONE } : {};
  if (name !== "platform" && name !== "simulator") return zone;
  return {
    ...zone,
    ...(name === "simulator" ? { PAMM_STATE_DIR: settings.stateDir } : {}),
    MT5_URL: `https://${LOOPBACK}:${settings.simulatorPort}`,
    MT5_CA_FILE: join(settings.stateDir, "simulator", "ca.pem"),
    MT5_LOGIN: env["MT5_LOGIN"] ?? MANAGER_LOGIN,
    PAMM_QUIET_PERIOD: inSeconds(quietPeriodMs(settings)),
  };
}

function storeVariables(context: LaunchContext, service: Service, stores: Stores): NodeJS.ProcessEnv {
  const { secrets } = context;
  const { postgresPort, natsPort } = stores;
  const server = `${LOOPBACK}:${postgresPort}`;
  const password = secrets.databasePasswordOf(service);
  return {
    // The launcher has migrated, as the owner.
    PAMM_MIGRATE: "check",
    ...(isLocal(context, service, stores)
      ? { [databaseVariable(service)]: serviceUrl(server, service, password) }
      : {}),
    ...(natsPort === undefined ? {} : brokerVariables(context, service, natsPort)),
  };
}

/** Whether the service uses the Postgres that the launcher has started. */
export function isLocal({ env }: LaunchContext, service: Service, { postgresPort }: Stores): boolean {
  return postgresPort !== undefined && !isSet(env, databaseVariable(service));
}

function brokerVariables({ secrets, settings }: LaunchContext, user: Service, port: number): NodeJS.ProcessEnv {
  return {
    NATS_URL: natsUrl(`${LOOPBACK}:${port}`, { user, password: secrets.nats.passwordOf(user), isTls: true }),
    NATS_CA_FILE: brokerCertificate(settings.stateDir).caFile,
  };
}

function quietPeriodMs(settings: Settings): number {
  return settings.quietPeriodMs ?? QUIET_PERIOD_MS;
}

/** The platform must have closed a lost connection before the service declares a leg absent. */
function idleCloseMs(settings: Settings): number {
  return settings.idleCloseMs ?? Math.min(DEFAULT_IDLE_CLOSE_MS, quietPeriodMs(settings) / 2);
}

function inSeconds(ms: number): string {
  return `PT${ms / 1000}S`;
}
