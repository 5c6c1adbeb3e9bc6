import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

/** As whom a server runs: a command in front of it, or other ids; neither = as we do. */
export type RunAs = {
  readonly prefix: readonly string[];
  readonly ids: { readonly uid?: number; readonly gid?: number };
};

export type TiedProcessOptions = {
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** Sent by the kernel when we die, however we die: the signal on which this server stops in order. */
  readonly lastSignal: "INT" | "TERM";
  readonly runAs?: RunAs;
};

export type Ending = {
  /** In words. */
  readonly how: string;
  /** By somebody else: the next life may do better. An exit is the program's own judgement. */
  readonly isKilled: boolean;
};

export type TiedProcess = {
  readonly pid: number;
  readonly isRunning: () => boolean;
  readonly ended: Promise<Ending>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** The signal, then SIGKILL when it was not enough. */
  readonly stop: (signal: NodeJS.Signals, patienceMs: number) => Promise<void>;
};

const LOG_TAIL_LINES = 4;

/**
 * A server whose life is tied to ours. `setpriv` comes last in the chain of commands, because a change of user clears the
 * parent-death signal. In its own session, so that a Ctrl-C of the terminal reaches it through us only, and in order.
 */
export async function startTied({
  command,
  args,
  logFile,
  lastSignal,
  runAs,
}: TiedProcessOptions): Promise<TiedProcess> {
  const chain = [...(runAs?.prefix ?? []), ...dieWithParent(lastSignal), command, ...args];
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
  return tie(child);
}

function tie(child: ChildProcess): TiedProcess {
  const ended = endingOf(child);
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    isRunning,
    ended,
    kill: (signal) => void child.kill(signal),
    async stop(signal, patienceMs) {
      if (!isRunning()) return;
      child.kill(signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
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

/** The end of a server's log, for the one line that says why it did not start. */
export function tailOf(logFile: string): string {
  const lines = readFileSync(logFile, "utf8").trim().split("\n");
  return lines.slice(-LOG_TAIL_LINES).join(" | ");
}

let hasSetpriv: boolean | undefined;

function dieWithParent(signal: string): string[] {
  hasSetpriv ??= spawnSync("setpriv", ["--pdeathsig", "KILL", "true"]).status === 0;
  return hasSetpriv ? ["setpriv", "--pdeathsig", signal] : [];
}
