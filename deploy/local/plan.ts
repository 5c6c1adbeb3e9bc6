import { join } from "node:path";
import { serviceUrl } from "./database.ts";
import { type Program, scriptOf } from "./life.ts";
import { freePort } from "./ports.ts";
import type { Readiness } from "./readiness.ts";
import type { Secrets } from "./secrets.ts";
import { databaseVariable, isSet, LOOPBACK, logFolder, type Service, SERVICES, type Settings } from "./settings.ts";
import { pidFile } from "./state.ts";

export type House = {
  /** The folder that holds `services`. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  readonly secrets: Secrets;
};

/** Where the stores that we started can be reached; undefined = the environment names a real one. */
export type Stores = { readonly postgresPort: number | undefined; readonly natsUrl: string | undefined };

const QUIET_PERIOD_MS = 20_000;
const IDLE_CLOSE_MS = 180_000;
const MANAGER_LOGIN = "1000";

/** Only who works with a secret is given it. */
const OWNERS: Record<string, readonly string[]> = {
  PAMM_ENCRYPTION_KEY: ["account", "edge"],
  PAMM_ENCRYPTION_KEY_OLD: ["account", "edge"],
  PAMM_API_KEY_PEPPER: ["edge"],
  PAMM_API_KEY_PEPPER_OLD: ["edge"],
  PAMM_BOOTSTRAP_API_KEY: ["edge"],
  MT5_PASSWORD: ["platform", "simulator"],
};

export function planSimulator(house: House): Program {
  const { settings } = house;
  return program(house, "simulator", {
    readiness: { host: LOOPBACK, port: settings.controlPort, path: "/control/stats" },
    env: {
      SIM_PORT: String(settings.simulatorPort),
      SIM_CONTROL_PORT: String(settings.controlPort),
      SIM_IDLE_CLOSE: inSeconds(idleCloseMs(settings)),
    },
  });
}

export async function planServices(house: House, stores: Stores): Promise<Record<Service, Program>> {
  const { settings } = house;
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
      ...storeVariables(house, service, stores),
      GRPC_HOST: LOOPBACK,
      GRPC_PORT: String(ports.get(service)),
      PAMM_METRICS_PORT: String(metricsPort),
      PAMM_HTTP_HOST: settings.httpHost,
      PAMM_HTTP_PORT: String(settings.httpPort),
    };
    planned.push([service, program(house, service, { readiness, env })]);
  }
  return Object.fromEntries(planned) as Record<Service, Program>;
}

/** Where a server that listens on every address can be called. */
export function reachable(host: string): string {
  if (host === "0.0.0.0") return LOOPBACK;
  return host === "::" ? "::1" : host;
}

function program(house: House, name: string, own: { readiness: Readiness; env: NodeJS.ProcessEnv }): Program {
  const { root, settings } = house;
  return {
    name,
    root,
    script: scriptOf(name),
    readiness: own.readiness,
    logFile: join(logFolder(settings), `${name}.log`),
    pidFile: pidFile(settings.stateDir, name),
    env: {
      ...inherited(house.env, name),
      ...secretVariables(house, name),
      ...platformVariables(house, name),
      ...own.env,
    },
  };
}

/** What the operator set goes through, but for other people's secrets. */
function inherited(env: NodeJS.ProcessEnv, name: string): NodeJS.ProcessEnv {
  const isForeign = (variable: string): boolean => {
    const plain = variable.replace(/_FILE$/, "");
    const owners = OWNERS[plain];
    if (owners !== undefined) return !owners.includes(name);
    return plain.endsWith("_DATABASE_URL") && plain !== databaseVariable(name);
  };
  return Object.fromEntries(Object.entries(env).filter(([variable]) => !isForeign(variable)));
}

function secretVariables({ env, secrets, settings }: House, name: string): NodeJS.ProcessEnv {
  const made: Record<string, string> = {
    PAMM_ENCRYPTION_KEY: secrets.encryptionKey,
    PAMM_BOOTSTRAP_API_KEY: secrets.apiKey,
    ...(settings.embedded.simulator ? { MT5_PASSWORD: secrets.mt5Password } : {}),
  };
  const isNeeded = (variable: string): boolean => OWNERS[variable]?.includes(name) === true && !isSet(env, variable);
  return Object.fromEntries(Object.entries(made).filter(([variable]) => isNeeded(variable)));
}

function platformVariables({ env, settings }: House, name: string): NodeJS.ProcessEnv {
  const isConcerned = name === "platform" || name === "simulator";
  if (!settings.embedded.simulator || !isConcerned) return { PAMM_STATE_DIR: settings.stateDir };
  return {
    PAMM_STATE_DIR: settings.stateDir,
    MT5_URL: `https://${LOOPBACK}:${settings.simulatorDialPort}`,
    MT5_CA_FILE: join(settings.stateDir, "simulator", "ca.pem"),
    MT5_LOGIN: env["MT5_LOGIN"] ?? MANAGER_LOGIN,
    PAMM_QUIET_PERIOD: inSeconds(quietPeriodMs(settings)),
    // Nothing but rehearsals happens on a simulator.
    PAMM_REHEARSAL: "true",
  };
}

function storeVariables({ env, secrets }: House, service: Service, stores: Stores): NodeJS.ProcessEnv {
  const variable = databaseVariable(service);
  const { postgresPort, natsUrl } = stores;
  const isGiven = postgresPort === undefined || isSet(env, variable);
  const server = `${LOOPBACK}:${postgresPort}`;
  return {
    ...(isGiven ? {} : { [variable]: serviceUrl(server, service, secrets.databasePasswordOf(service)) }),
    ...(natsUrl === undefined ? {} : { NATS_URL: natsUrl }),
  };
}

function quietPeriodMs({ quietPeriodMs: given }: Settings): number {
  return given ?? QUIET_PERIOD_MS;
}

/** Absence may be declared only after a connection that was lost has been closed by the platform too. */
function idleCloseMs(settings: Settings): number {
  return settings.idleCloseMs ?? Math.min(IDLE_CLOSE_MS, quietPeriodMs(settings) / 2);
}

function inSeconds(ms: number): string {
  return `PT${ms / 1000}S`;
}
