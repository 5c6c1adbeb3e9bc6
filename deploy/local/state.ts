import { createHash } from "node:crypto";
import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { StartupError } from "#kernel/process/startup-error.ts";
import { recordedProcess, recordProcess } from "./process-id.ts";

const LAUNCHER = "launcher";
const FOLDERS = ["log", "run", "secret"];

export function pidFile(stateDir: string, name: string): string {
  return join(stateDir, "run", `${name}.pid`);
}

/** The launcher that runs on this state, if any. */
export function launcherOf(stateDir: string): number | undefined {
  return recordedProcess(pidFile(stateDir, LAUNCHER));
}

/** Makes the folder and locks it for this process, until the lock is disposed or the process ends. */
export async function lockState(stateDir: string): Promise<AsyncDisposable> {
  try {
    for (const folder of ["", ...FOLDERS]) mkdirSync(join(stateDir, folder), { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(`PAMM_STATE_DIR ${stateDir} cannot be used: ${reason}`, { cause: error });
  }
  const lock = await lockByName(stateDir);
  recordProcess(pidFile(stateDir, LAUNCHER), process.pid);
  return {
    async [Symbol.asyncDispose]() {
      rmSync(pidFile(stateDir, LAUNCHER), { force: true });
      await lock[Symbol.asyncDispose]();
    },
  };
}

/** A socket address in the abstract name space belongs to one process and ends with it, so the lock is never stale. */
async function lockByName(stateDir: string): Promise<AsyncDisposable> {
  const name = createHash("sha256").update(realpathSync(stateDir)).digest("hex").slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  const isLocked = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(`\0pamm-state-${name}`, () => resolve(true));
  });
  if (isLocked) return server;
  const holder = launcherOf(stateDir);
  throw new StartupError(
    `${stateDir} is in use by process ${holder ?? "unknown"}: stop it (make stop), or set PAMM_STATE_DIR to another folder`,
  );
}
