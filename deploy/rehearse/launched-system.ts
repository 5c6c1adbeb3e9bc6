import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { findSystem, type System } from "../demo/system.ts";
import { startLauncher } from "../demo/temporary-system.ts";
import type { ServerProcess } from "../local/child-process.ts";
import { fixedPorts } from "../local/ports.ts";
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

const STOP_TIMEOUT_MS = 60_000;

export async function launchSystem(folder: string, settings: Record<string, string>): Promise<LaunchedSystem> {
  const stateDir = join(folder, "state");
  const dataDir = join(stateDir, "postgres");
  for (const name of ["log", "secret"]) mkdirSync(join(stateDir, name), { recursive: true, mode: 0o700 });
  const own = { ...settings, ...(await fixedPorts()) };
  let launcher: ServerProcess | undefined;
  const stop = async (): Promise<void> => launcher?.stop("SIGTERM", STOP_TIMEOUT_MS);
  const password = readOrMakeSecrets(stateDir).postgresPassword;
  return {
    stateDir,
    dataDir,
    async start() {
      const started = await startLauncher(stateDir, own, join(folder, "launcher.log"));
      launcher = started.launcher;
      await started.untilReady();
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
      const { edgeDatabaseUrl } = JSON.parse(readFileSync(join(stateDir, "run/system.json"), "utf8")) as {
        edgeDatabaseUrl: string;
      };
      const url = new URL(edgeDatabaseUrl);
      [url.username, url.password] = ["postgres", password];
      return url.href;
    },
    password,
    [Symbol.asyncDispose]: stop,
  };
}
