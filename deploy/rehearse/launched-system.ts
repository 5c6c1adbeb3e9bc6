import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { findSystem, type System } from "../demo/system.ts";
import { launcherWith } from "../demo/temporary-system.ts";
import { DemoFailure, poll } from "../demo/wait.ts";
import { type ServerProcess, startServer, tailOf } from "../local/child-process.ts";
import { freePort } from "../local/ports.ts";
import { readOrMakeSecrets } from "../provision/secrets.ts";

/** A system as `make run` starts it, in a folder of its own. */
export type LaunchedSystem = AsyncDisposable & {
  readonly stateDir: string;
  readonly dataDir: string;
  readonly start: () => Promise<void>;
  /** In order, as Ctrl-C does. */
  readonly stop: () => Promise<void>;
  /** All at once, as when the machine is lost: Postgres writes nothing any more. */
  readonly lose: () => Promise<void>;
  readonly info: () => System;
  /** Of the superuser. */
  readonly databaseUrl: () => string;
  readonly password: string;
};

const STARTED = { what: "the start of the system", withinMs: 180_000, everyMs: 100 };
const STOP_TIMEOUT_MS = 60_000;

export async function launchSystem(folder: string, settings: Record<string, string>): Promise<LaunchedSystem> {
  const stateDir = join(folder, "state");
  const dataDir = join(stateDir, "postgres");
  const systemFile = join(stateDir, "run/system.json");
  const logFile = join(folder, "launcher.log");
  for (const name of ["log", "secret"]) mkdirSync(join(stateDir, name), { recursive: true, mode: 0o700 });
  const env = { ...settings, PAMM_STATE_DIR: stateDir, ...(await ports()) };
  let launcher: ServerProcess | undefined;
  const stop = async (): Promise<void> => launcher?.stop("SIGTERM", STOP_TIMEOUT_MS);
  const password = readOrMakeSecrets(stateDir).postgresPassword;
  return {
    stateDir,
    dataDir,
    async start() {
      // Of a launcher that was killed.
      rmSync(systemFile, { force: true });
      const started = await startServer({ ...launcherWith(env), logFile, parentDeathSignal: "TERM" });
      launcher = started;
      await poll(
        STARTED,
        async () => {
          if (!started.isRunning()) throw new DemoFailure(`the system did not start: ${tailOf(logFile)}`);
          return existsSync(systemFile) ? true : undefined;
        },
        () => tailOf(logFile),
      );
    },
    stop,
    async lose() {
      launcher?.kill("SIGKILL");
      const postmaster = Number.parseInt(readFileSync(join(dataDir, "postmaster.pid"), "utf8"), 10);
      process.kill(postmaster, "SIGKILL");
      await launcher?.ended;
    },
    info: () => findSystem({ PAMM_STATE_DIR: stateDir }),
    databaseUrl() {
      const { edgeDatabaseUrl } = JSON.parse(readFileSync(systemFile, "utf8")) as { edgeDatabaseUrl: string };
      const url = new URL(edgeDatabaseUrl);
      [url.username, url.password] = ["postgres", password];
      return url.href;
    },
    password,
    [Symbol.asyncDispose]: stop,
  };
}

/** Callers keep the addresses when the system starts again. */
async function ports(): Promise<Record<string, string>> {
  const names = ["PAMM_HTTP_PORT", "PAMM_METRICS_PORT", "SIM_PORT", "SIM_CONTROL_PORT"];
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, String(await freePort())])));
}
