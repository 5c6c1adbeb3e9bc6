import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { StartupError } from "#kernel/startup-error.ts";
import { recordProcess } from "./process-id.ts";
import { isReadyAt, type Readiness } from "./readiness.ts";
import { type Ending, endingOf } from "./tied-process.ts";

/** One run of something that is to be kept running. */
export type Life = {
  readonly ended: Promise<Ending>;
  /** Rejects when it takes too long; says nothing when it ended before. */
  readonly ready: Promise<void>;
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
};

export type Program = {
  readonly name: string;
  /** Relative to `root`, so that the command line names it whatever the folder is called. */
  readonly script: string;
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly readiness: Readiness;
  readonly logFile: string;
  readonly pidFile: string;
};

/** Above the hard stop of a service, which is 15 s. */
const STOP_PATIENCE_MS = 17_000;
const READY_TIMEOUT_MS = 120_000;

/**
 * A service in a session of its own, because Ctrl-C must reach it through us only and in order. The IPC channel carries no
 * message: it closes when we die, however we die, and then the service stops by itself. It writes to its log file and not
 * to a pipe, which would block or break when we are stopped or gone.
 */
export async function startProgram(program: Program): Promise<Life> {
  const log = openSync(program.logFile, "a", 0o600);
  const child = spawn(process.execPath, [program.script], {
    cwd: program.root,
    env: program.env,
    detached: true,
    stdio: ["ignore", log, log, "ipc"],
  });
  closeSync(log);
  const ended = endingOf(child);
  await new Promise<void>((spawned, failed) => child.once("spawn", spawned).once("error", failed));
  recordProcess(program.pidFile, child.pid ?? 0);
  return {
    ended,
    ready: untilReady(program, ended),
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_PATIENCE_MS);
      await ended;
      clearTimeout(timer);
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

async function untilReady({ name, readiness, logFile }: Program, ended: Promise<Ending>): Promise<void> {
  const tooLate = AbortSignal.timeout(READY_TIMEOUT_MS);
  const end = new AbortController();
  void ended.then(() => end.abort());
  if (await isReadyAt(readiness, AbortSignal.any([end.signal, tooLate]))) return;
  if (tooLate.aborted)
    throw new StartupError(`${name} is not ready after ${READY_TIMEOUT_MS / 1000} s, see ${logFile}`);
  await new Promise(() => undefined);
}

export function scriptOf(service: string): string {
  return join("services", service, "main.ts");
}
