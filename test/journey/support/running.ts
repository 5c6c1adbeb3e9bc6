import { spawn } from "node:child_process";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

/** A process that a test started, and everything it said. */
export type Running = {
  readonly said: () => string;
  /** Waits until it has said this, after so many characters; fails when it ends or the time is up before. */
  readonly hears: (wanted: string, options?: { readonly after?: number }) => Promise<void>;
  readonly ended: Promise<number | null>;
  readonly signal: (signal: NodeJS.Signals) => void;
};

const POLL_MS = 20;
const TIMEOUT_MS = 180_000;

/** It gets a SIGTERM when we die, however we die. */
export function run(command: readonly string[], env: NodeJS.ProcessEnv): Running {
  const [file = "", ...args] = ["setpriv", "--pdeathsig", "TERM", ...command];
  const child = spawn(file, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const isThere = (wanted: string, after: number): boolean => text.includes(wanted, after);
  return {
    ended,
    said: () => text,
    signal: (signal) => void child.kill(signal),
    async hears(wanted, { after = 0 } = {}) {
      for (const until = Date.now() + TIMEOUT_MS; !isThere(wanted, after); await sleep(POLL_MS)) {
        const isOver = child.exitCode !== null || child.signalCode !== null || Date.now() > until;
        if (isOver && !isThere(wanted, after)) throw new Error(`did not say ${wanted}, but:\n${text}`);
      }
    },
  };
}

/** What the developer has set for a system of their own must not reach the one under test. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const isOurs = (name: string): boolean => /^(PAMM|SIM|MT5|NATS|DATABASE|GRPC|LOG)_|_(DATABASE|GRPC)_URL/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)));
}
