import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { freePort } from "../../../deploy/local/ports.ts";
import { eventually } from "../../journey/support/client.ts";
import type { Endpoint } from "../load/job.ts";

/** The processes of a peer. */
export type PeerProcesses = AsyncDisposable & {
  readonly endpoint: Endpoint;
  readonly pids: ReadonlyMap<string, number>;
  readonly signal: (name: NodeJS.Signals) => void;
};

const HOST = "127.0.0.1";
const STARTS_WITHIN_MS = 60_000;

/** Starts scripts of this folder, by role; one of them answers HTTP at HTTP_PORT. */
export async function startProcesses(
  scripts: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  logFile: string,
): Promise<PeerProcesses> {
  await using stack = new AsyncDisposableStack();
  const port = await freePort(HOST);
  const children = Object.entries(scripts).map(([role, script]) => {
    const child = startScript(script, { ...env, HTTP_PORT: String(port) }, logFile);
    stack.defer(() => kill(child));
    return [role, child] as const;
  });
  await eventually(async () => {
    const { ok } = await fetch(`http://${HOST}:${port}/ready`);
    if (!ok) throw new Error(`not ready, see ${logFile}`);
  }, STARTS_WITHIN_MS);
  const held = stack.move();
  return {
    endpoint: { host: HOST, ports: [port], headers: {} },
    pids: new Map(children.map(([role, child]) => [role, child.pid ?? 0])),
    signal: (name) => children.forEach(([, child]) => void child.kill(name)),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

function startScript(script: string, env: Readonly<Record<string, string>>, logFile: string): ChildProcess {
  const log = openSync(logFile, "a");
  // It ends with this process, also when that is killed.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, join(import.meta.dirname, script)], {
    env: { PATH: process.env["PATH"], NODE_ENV: "production", ...env },
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  return child;
}

/** A peer has nothing to finish, and a process that is stopped by SIGSTOP ends by SIGKILL only. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}
