import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const ROOT = join(import.meta.dirname, "../..");

export type StartedService = AsyncDisposable & { readonly pid: number };

/** Starts a process of one service, and stops it when it is disposed. */
export function startService(
  name: string,
  env: Readonly<Record<string, string>>,
  logFile: string,
  flags: readonly string[] = [],
): StartedService {
  const log = openSync(logFile, "a");
  const command = [process.execPath, ...flags, join(ROOT, `services/${name}/main.ts`)];
  // It ends with this process, also when that is killed.
  const child = spawn("setpriv", ["--pdeathsig", "TERM", ...command], {
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...env },
    stdio: ["ignore", log, log],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
