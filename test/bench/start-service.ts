import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const ROOT = join(import.meta.dirname, "../..");

export type Started = AsyncDisposable & { readonly pid: number; readonly signal: (name: NodeJS.Signals) => void };

export type ScriptOptions = {
  /** Relative to the repository. */
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly stopsBy: "TERM" | "KILL";
};

/** Starts a process, and stops it when it is disposed. */
export function startScript({ script, env, logFile, stopsBy }: ScriptOptions): Started {
  const log = openSync(logFile, "a");
  const command = [process.execPath, join(ROOT, script)];
  // It ends with this process, also when that is killed.
  const child = spawn("setpriv", ["--pdeathsig", stopsBy, ...command], {
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...env },
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    pid: child.pid ?? 0,
    signal: (name) => void child.kill(name),
    async [Symbol.asyncDispose]() {
      child.kill(`SIG${stopsBy}`);
      await ended;
    },
  };
}

export function startService(name: string, env: ScriptOptions["env"], logFile: string): Started {
  return startScript({ script: `services/${name}/main.ts`, env, logFile, stopsBy: "TERM" });
}
