import { join, resolve } from "node:path";
import {
  duration,
  instant,
  optional,
  port,
  secret,
  secretUrl,
  secretUrls,
  text,
  url,
} from "#kernel/process/config-variables.ts";
import { type Config, type Environment, readConfig } from "#kernel/process/config.ts";
import { StartupError } from "#kernel/process/startup-error.ts";
import { freePort, isFree, reservePort } from "./ports.ts";
import { databaseVariable, LOOPBACK, SERVICES } from "../provision/services.ts";

const POSTGRES = ["postgres", "postgresql"];

/** The same defaults as in subscription: weeks that begin on Saturdays. */
const FEE_PERIOD = "P7D";
export const FEE_ANCHOR = "2025-01-04T00:00:00Z";

export const SETTINGS = {
  PAMM_STATE_DIR: text("a folder", { whenMissing: ".state" }),
  PAMM_HTTP_HOST: text("an address to listen on", { whenMissing: "127.0.0.1" }),
  PAMM_HTTP_PORT: port({ whenMissing: "8080" }),
  PAMM_METRICS_PORT: optional(port()),
  SIM_PORT: port({ whenMissing: "8443" }),
  SIM_CONTROL_PORT: port({ whenMissing: "8444" }),
  SIM_IDLE_CLOSE: optional(duration()),
  PAMM_QUIET_PERIOD: optional(duration()),
  PAMM_FEE_PERIOD: duration({ whenMissing: FEE_PERIOD }),
  PAMM_FEE_ANCHOR: instant({ whenMissing: FEE_ANCHOR }),
  PAMM_BOOTSTRAP_API_KEY: optional(secret("a key")),
  DATABASE_URL: optional(secretUrl(POSTGRES)),
  NATS_URL: optional(secretUrls(["nats", "tls"])),
  MT5_URL: optional(url(["https"])),
};

export type Settings = {
  readonly stateDir: string;
  readonly httpHost: string;
  readonly httpPort: number;
  readonly metricsPort: number;
  readonly simulatorPort: number;
  readonly controlPort: number;
  readonly quietPeriodMs: number | undefined;
  readonly idleCloseMs: number | undefined;
  /** For the banner and the demo; subscription reads the variables itself. */
  readonly feeWeek: { readonly periodMs: number; readonly anchor: Date };
  readonly hasOwnKey: boolean;
  /** The servers that the launcher starts because the environment names none. */
  readonly embedded: { readonly postgres: boolean; readonly nats: boolean; readonly simulator: boolean };
};

const METRICS_PORT = 9_090;

export type LaunchConfig = Config<typeof SETTINGS>;

/** The settings of the environment: all mistakes are reported together, before anything changes. */
export function readLaunchConfig(env: Environment): LaunchConfig {
  return readConfig(SETTINGS, env);
}

export function stateDirOf({ PAMM_STATE_DIR }: LaunchConfig): string {
  return resolve(PAMM_STATE_DIR);
}

/** Checks that the ports are free: all that are taken are reported together, before anything starts. */
export async function claimPorts(env: Environment, read: LaunchConfig): Promise<Settings> {
  const simulator = read.MT5_URL === undefined;
  const ports = new PortClaims();
  const httpPort = await ports.claim("PAMM_HTTP_PORT", read.PAMM_HTTP_HOST, read.PAMM_HTTP_PORT);
  const simulatorPort = simulator ? await ports.claim("SIM_PORT", LOOPBACK, read.SIM_PORT) : 0;
  const controlPort = simulator ? await ports.claim("SIM_CONTROL_PORT", LOOPBACK, read.SIM_CONTROL_PORT) : 0;
  const metricsPort = await ports.claim("PAMM_METRICS_PORT", LOOPBACK, await metricsPortOf(read.PAMM_METRICS_PORT));
  ports.refuse();
  return {
    stateDir: stateDirOf(read),
    httpHost: read.PAMM_HTTP_HOST,
    httpPort,
    metricsPort,
    simulatorPort,
    controlPort,
    quietPeriodMs: read.PAMM_QUIET_PERIOD,
    idleCloseMs: read.SIM_IDLE_CLOSE,
    feeWeek: { periodMs: read.PAMM_FEE_PERIOD, anchor: read.PAMM_FEE_ANCHOR },
    hasOwnKey: read.PAMM_BOOTSTRAP_API_KEY !== undefined,
    embedded: {
      postgres: read.DATABASE_URL === undefined && !SERVICES.every((service) => isSet(env, databaseVariable(service))),
      nats: read.NATS_URL === undefined,
      simulator,
    },
  };
}

/** Set directly or as a file. Compose passes an unset variable on as empty text, which counts as not set. */
export function isSet(env: Environment, name: string): boolean {
  return Boolean(env[name]) || Boolean(env[`${name}_FILE`]);
}

export function logFolder({ stateDir }: Settings): string {
  return join(stateDir, "log");
}

/** The default port is optional: when another program holds it, the launcher takes a free one. */
async function metricsPortOf(wanted: number | undefined): Promise<number> {
  if (wanted !== undefined) return wanted;
  return (await isFree(LOOPBACK, METRICS_PORT)) ? METRICS_PORT : 0;
}

class PortClaims {
  readonly #mistakes: string[] = [];
  readonly #taken = new Map<number, string>();

  /** Wanted 0 = any free port. */
  async claim(variable: string, host: string, wanted: number): Promise<number> {
    const port = wanted === 0 ? await freePort(host) : wanted;
    // No server listens there yet, and other servers receive their ports before it starts.
    reservePort(port);
    const other = this.#taken.get(port);
    if (other !== undefined) {
      this.#mistakes.push(`${variable} and ${other} are both ${port}: choose another for one of them`);
    } else if (!(await isFree(host, port))) {
      this.#mistakes.push(
        `port ${port} on ${host} is taken: set ${variable} to another one (0 = any free one) or stop the program that holds it`,
      );
    }
    this.#taken.set(port, variable);
    return port;
  }

  refuse(): void {
    if (this.#mistakes.length > 0) throw new StartupError(this.#mistakes.join("\n"));
  }
}
