import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

/** The user that a server runs as: set by a command before its own, or by ids; neither = the launcher's user. */
export type RunAs = {
  readonly prefix: readonly string[];
  readonly ids: { readonly uid?: number; readonly gid?: number };
};

export type ServerOptions = {
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** Sent by the operating system when this process ends, for any reason: the signal on which the server stops in order. */
  readonly parentDeathSignal: "INT" | "TERM";
  readonly runAs?: RunAs;
};

export type Ending = {
  /** The signal or the exit code, as text. */
  readonly how: string;
  /** True after a signal: a restart may help. False when the program ended itself with an exit code. */
  readonly isKilled: boolean;
};

export type ServerProcess = {
  readonly pid: number;
  readonly isRunning: () => boolean;
  readonly ended: Promise<Ending>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Sends the signal, and SIGKILL when the server still runs after the time-out. */
  readonly stop: (signal: NodeJS.Signals, timeoutMs: number) => Promise<void>;
};

/** Of a log in an error message: a server that does not start writes its reason last. */
const LOG_TAIL_LINES = 4;

/**
 * Starts a server that ends with this process. `setpriv` comes last in the chain of commands, because a change of user
 * clears the parent-death signal. The server has its own session, so that Ctrl-C reaches it through the launcher only, and
 * in order.
 */
export async function startServer({
  command,
  args,
  logFile,
  parentDeathSignal,
  runAs,
}: ServerOptions): Promise<ServerProcess> {
  const chain = [...(runAs?.prefix ?? []), ...dieWithParent(parentDeathSignal), command, ...args];
  const [file = command, ...rest] = chain;
  const log = openSync(logFile, "a", 0o600);
  const child = spawn(file, rest, {
    stdio: ["ignore", log, log],
    detached: true,
    cwd: "/",
    ...runAs?.ids,
  });
  closeSync(log);
  await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  return serverProcess(child);
}

function serverProcess(child: ChildProcess): ServerProcess {
  const ended = endingOf(child);
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    isRunning,
    ended,
    kill: (signal) => void child.kill(signal),
    async stop(signal, timeoutMs) {
      if (!isRunning()) return;
      child.kill(signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

export function endingOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ how: signal ?? `exit code ${code}`, isKilled: signal !== null }));
  });
}

/** The last lines of a server's log as one line, for the message that it did not start. */
export function tailOf(logFile: string): string {
  const lines = readFileSync(logFile, "utf8").trim().split("\n");
  return lines.slice(-LOG_TAIL_LINES).join(" | ");
}

let hasSetpriv: boolean | undefined;

function dieWithParent(signal: string): string[] {
  hasSetpriv ??= spawnSync("setpriv", ["--pdeathsig", "KILL", "true"]).status === 0;
  return hasSetpriv ? ["setpriv", "--pdeathsig", signal] : [];
}
