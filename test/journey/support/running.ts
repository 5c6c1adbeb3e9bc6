import { spawn } from "node:child_process";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

/** A process that a test started, and its output. */
export type Running = {
  readonly output: () => string;
  /** Waits for a text in the output after this many characters; fails when the process ends or the time is over. */
  readonly waitFor: (wanted: string, options?: { readonly after?: number }) => Promise<void>;
  readonly isRunning: () => boolean;
  readonly ended: Promise<number | null>;
  readonly signal: (signal: NodeJS.Signals) => void;
};

const POLL_MS = 20;
/** Longer than a whole system takes to start on a busy machine. */
const TIMEOUT_MS = 180_000;

/** The process receives SIGTERM when this process ends in any way. */
export function run(command: readonly string[], env: NodeJS.ProcessEnv): Running {
  const [file = "", ...args] = ["setpriv", "--pdeathsig", "TERM", ...command];
  const child = spawn(file, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const isPrinted = (wanted: string, after: number): boolean => text.includes(wanted, after);
  return {
    ended,
    isRunning,
    output: () => text,
    signal: (signal) => void child.kill(signal),
    async waitFor(wanted, { after = 0 } = {}) {
      for (const until = Date.now() + TIMEOUT_MS; !isPrinted(wanted, after); await sleep(POLL_MS)) {
        const isOver = !isRunning() || Date.now() > until;
        if (isOver && !isPrinted(wanted, after)) throw new Error(`the output has no "${wanted}":\n${text}`);
      }
    },
  };
}

/** The environment without settings of a local system of the developer. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const isSetting = (name: string): boolean =>
    /^(PAMM|SIM|MT5|NATS|DATABASE|GRPC|LOG)_|_(DATABASE|GRPC)_URL/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSetting(name)));
}
