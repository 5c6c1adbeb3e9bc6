import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { startServer, tailOf } from "../local/child-process.ts";
import { findSystem, type System } from "./system.ts";
import { DemoFailure, poll } from "./wait.ts";

export type TemporarySystem = AsyncDisposable & {
  readonly system: System;
  /** Settles when the launcher has ended, also when another process stopped it. */
  readonly ended: Promise<unknown>;
};

type OwnSystem = {
  readonly stateDir: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Of this process, when a signal has stopped the system. */
  readonly exitCode: number;
  readonly afterwards?: () => void;
};

const LAUNCHER = join(import.meta.dirname, "../local/run.ts");
/** Longer than each part of the scenario that has to fit into one week; the demo waits for the end of three. */
const WEEK = "PT15S";
/** As long as the launcher waits for a process to become ready. */
const START = { what: "the start of the temporary system", withinMs: 120_000, everyMs: 100 };
/** The launcher stops its groups of processes one after the other; each takes 15 s at most. */
const STOP_TIMEOUT_MS = 60_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const INTERRUPTED = 130;
/** Variables that may name real servers, or the system on which `make demo` was started. */
const SETTINGS = /^(PAMM|SIM|MT5|NATS|DATABASE|GRPC)_|_(DATABASE|GRPC)_URL/;

/** Starts a second system with short fee weeks, on free ports; it removes its data when it stops. */
export async function startTemporarySystem(): Promise<TemporarySystem> {
  const folder = mkdtempSync(join(tmpdir(), "pamm-demo-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const settings = { PAMM_FEE_PERIOD: WEEK, ...freePorts() };
  return await startOwnSystem({ stateDir: join(folder, "state"), settings, exitCode: INTERRUPTED, afterwards: remove });
}

/** Starts a system with its data in this folder; a signal to this process stops it in order. */
export async function startOwnSystem(own: OwnSystem): Promise<TemporarySystem> {
  const { stateDir, settings, exitCode, afterwards = () => {} } = own;
  mkdirSync(stateDir, { recursive: true });
  const env = { PAMM_STATE_DIR: stateDir, ...settings };
  const logFile = join(stateDir, "launcher.log");
  const launcher = await startServer({ ...launcherWith(env), logFile, parentDeathSignal: "TERM" });
  const interrupt = (): void => void stop().finally(() => process.exit(exitCode));
  const stop = async (): Promise<void> => {
    for (const signal of SIGNALS) process.off(signal, interrupt);
    await launcher.stop("SIGTERM", STOP_TIMEOUT_MS);
    afterwards();
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    const system = await poll(
      START,
      async () => {
        if (!launcher.isRunning()) throw new DemoFailure(`the system did not start: ${tailOf(logFile)}`);
        return existsSync(join(stateDir, "run/system.json")) ? findSystem({ PAMM_STATE_DIR: stateDir }) : undefined;
      },
      () => tailOf(logFile),
    );
    return { system, ended: launcher.ended, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export function freePorts(): Record<string, string> {
  return Object.fromEntries(
    ["PAMM_HTTP_PORT", "PAMM_METRICS_PORT", "SIM_PORT", "SIM_CONTROL_PORT"].map((name) => [name, "0"]),
  );
}

export function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SETTINGS.test(name)));
}

/** The launcher with this environment, without the settings of this process. */
export function launcherWith(env: Record<string, string>): {
  readonly command: string;
  readonly args: readonly string[];
} {
  const inherited = Object.keys(process.env).filter((name) => SETTINGS.test(name));
  const unset = inherited.flatMap((name) => ["-u", name]);
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return { command: "env", args: [...unset, ...set, process.execPath, LAUNCHER] };
}
