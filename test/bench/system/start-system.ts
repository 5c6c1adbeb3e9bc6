import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { recordedProcess } from "../../../deploy/local/process-id.ts";
import { fixedPorts } from "../../../deploy/local/ports.ts";
import { SERVICES } from "../../../deploy/provision/services.ts";
import { pidFile } from "../../../deploy/local/state.ts";
import { type Client, clientOf } from "../../journey/support/client.ts";
import { cleanEnvironment, run } from "../../journey/support/running.ts";
import { systemAt } from "../../journey/support/system.ts";

/** The service as `make run` starts it, with data on disk. */
export type System = AsyncDisposable & {
  /** On the same disk as the data. */
  readonly folder: string;
  readonly client: Client;
  readonly url: string;
  readonly apiKey: string;
  readonly controlUrl: string;
  /** Of the simulator's Web API. */
  readonly platformUrl: string;
  /** Of the superuser, for databases of the bench and for counters of the server. */
  readonly postgresUrl: string;
  readonly postgresLog: string;
  /** Of the user who may do everything. */
  readonly brokerPassword: string;
  /** Process ids by name, now: a process that was killed has another one after its restart. */
  readonly processes: () => ReadonlyMap<string, number>;
  /** Nothing when no process of this name runs. The launcher starts one again that was killed. */
  readonly signal: (name: string, signal: NodeJS.Signals) => void;
  /** Works while a process is stopped (SIGSTOP). */
  readonly whileStopped: <T>(name: string, work: () => Promise<T>) => Promise<T>;
};

const ROOT = join(import.meta.dirname, "../../..");
const LAUNCHER = [process.execPath, join(ROOT, "deploy/local/run.ts")];
const IS_READY = "Ctrl-C stops everything";
/** A request of the bench is not to be refused for its rate. */
const UNLIMITED = {
  PAMM_RATE_READ: "100000",
  PAMM_RATE_MONEY: "100000",
  PAMM_RATE_CREATE: "100000",
  PAMM_CONCURRENT_MONEY: "5000",
};

/** `prepare` may write into the empty state folder before anything starts. */
export async function startSystem(
  settings: NodeJS.ProcessEnv = {},
  prepare: (stateDir: string) => void = () => undefined,
): Promise<System> {
  const folder = mkdtempSync(join(tmpdir(), "pamm-bench-"));
  const stateDir = join(folder, "state");
  prepare(stateDir);
  const ports = await fixedPorts();
  const launcher = run(LAUNCHER, {
    ...cleanEnvironment(),
    ...UNLIMITED,
    ...ports,
    PAMM_STATE_DIR: stateDir,
    LOG_LEVEL: "error",
    ...settings,
  });
  const stop = async (): Promise<void> => {
    launcher.signal("SIGINT");
    await launcher.ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await launcher.waitFor(IS_READY);
  } catch (error) {
    await stop();
    throw error;
  }
  const running = systemAt(stateDir);
  const processes = (): ReadonlyMap<string, number> => processesOf(stateDir);
  const signal = (name: string, sent: NodeJS.Signals): void => {
    const pid = processes().get(name);
    if (pid !== undefined) process.kill(pid, sent);
  };
  const { url, apiKey, simulatorControlUrl: controlUrl } = running.info();
  return {
    folder,
    client: clientOf(running),
    url,
    apiKey,
    controlUrl,
    platformUrl: `https://127.0.0.1:${ports["SIM_PORT"]}`,
    postgresUrl: postgresUrlOf(stateDir),
    postgresLog: join(stateDir, "log/postgres.log"),
    brokerPassword: linesOf(stateDir, "secret/nats-password")[0] ?? "",
    processes,
    signal,
    async whileStopped(name, work) {
      signal(name, "SIGSTOP");
      try {
        return await work();
      } finally {
        signal(name, "SIGCONT");
      }
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** Of the superuser. */
export function postgresUrlOf(stateDir: string): string {
  const port = linesOf(stateDir, "postgres/postmaster.pid")[3];
  const [password] = linesOf(stateDir, "secret/postgres-password");
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

function processesOf(stateDir: string): ReadonlyMap<string, number> {
  const named = [...SERVICES, "simulator"].map((name) => [name, recordedProcess(pidFile(stateDir, name))] as const);
  const stores = [
    ["postgres", Number(linesOf(stateDir, "postgres/postmaster.pid")[0])],
    ["nats", Number(linesOf(stateDir, "nats/nats-server.pid")[0])],
  ] as const;
  return new Map([...named, ...stores].flatMap(([name, pid]) => (pid === undefined ? [] : [[name, pid] as const])));
}

function linesOf(stateDir: string, file: string): string[] {
  return readFileSync(join(stateDir, file), "utf8").split("\n");
}
