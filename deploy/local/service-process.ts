import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { StartupError } from "#kernel/process/startup-error.ts";
import { type Ending, endingOf } from "./child-process.ts";
import { recordProcess } from "./process-id.ts";

/** One run of a process that the supervisor keeps running. */
export type ProcessRun = {
  readonly ended: Promise<Ending>;
  /** Rejects when the start takes too long; stays pending when the process ended before it was ready. */
  readonly ready: Promise<void>;
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
};

/** An address that answers 200 once the process can do its work. */
export type Readiness = { readonly host: string; readonly port: number; readonly path: string };

export type Program = {
  readonly name: string;
  /** Relative to `root`, so that the command line shows the service whatever the folder is called. */
  readonly script: string;
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly readiness: Readiness;
  readonly logFile: string;
  readonly pidFile: string;
};

/** Above the hard stop of a service, which is 15 s. */
const STOP_TIMEOUT_MS = 17_000;
/** All processes start at the same time, and wait for each other, on a busy machine. */
const READY_TIMEOUT_MS = 120_000;
const READY_POLL_MS = 50;
/** Longer than the edge examines its dependencies, which is 1.5 s. */
const ANSWER_TIMEOUT_MS = 3_000;

/**
 * Starts a service in a session of its own, because Ctrl-C must reach it through the launcher only and in order. The IPC
 * channel carries no message: it closes when the launcher ends, for any reason, and then the service stops by itself. The
 * service writes to its log file and not to a pipe, which would block or break when the launcher is stopped or has ended.
 */
export async function startProgram(program: Program): Promise<ProcessRun> {
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
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
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
  if (tooLate.aborted) {
    throw new StartupError(`${name} is not ready after ${READY_TIMEOUT_MS / 1000} s, see ${logFile}`);
  }
  await new Promise(() => undefined);
}

/** False when the signal aborted the wait. */
async function isReadyAt(readiness: Readiness, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if (await answersOk(readiness)) return true;
    await sleep(READY_POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

function answersOk({ host, port, path }: Readiness): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host, port, path, agent: false, timeout: ANSWER_TIMEOUT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });
}

export function scriptOf(service: string): string {
  return join("services", service, "main.ts");
}
