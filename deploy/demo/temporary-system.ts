import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type ServerProcess, startServer, tailOf } from "../local/child-process.ts";
import { SYSTEM_PORTS } from "../local/ports.ts";
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
/** Longer than the launcher waits for a process to become ready. */
const START = { what: "the start of the system", withinMs: 180_000, everyMs: 100 };
/** The launcher stops its groups of processes one after the other; each takes 15 s at most. */
const STOP_TIMEOUT_MS = 60_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const INTERRUPTED = 130;
/** Variables that may name real servers, or the system on which `make demo` was started. */
const SETTINGS = /^(PAMM|SIM|MT5|NATS|DATABASE|GRPC)_|_(DATABASE(_MIGRATION)?|GRPC)_URL/;

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
  const { launcher, untilReady } = await startLauncher(stateDir, settings, join(stateDir, "launcher.log"));
  const interrupt = (): void => void stop().finally(() => process.exit(exitCode));
  const stop = async (): Promise<void> => {
    for (const signal of SIGNALS) process.off(signal, interrupt);
    await launcher.stop("SIGTERM", STOP_TIMEOUT_MS);
    afterwards();
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    const system = await untilReady();
    return { system, ended: launcher.ended, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type StartedLauncher = { readonly launcher: ServerProcess; readonly untilReady: () => Promise<System> };

/** Starts the launcher with these settings, and none of this process. */
export async function startLauncher(
  stateDir: string,
  settings: Readonly<Record<string, string>>,
  logFile: string,
): Promise<StartedLauncher> {
  const systemFile = join(stateDir, "run/system.json");
  // Of a launcher that was killed.
  rmSync(systemFile, { force: true });
  const command = launcherWith({ PAMM_STATE_DIR: stateDir, ...settings });
  const launcher = await startServer({ ...command, logFile, parentDeathSignal: "TERM" });
  const readOnce = async (): Promise<System | undefined> => {
    if (!launcher.isRunning()) throw new DemoFailure(`the system did not start: ${tailOf(logFile)}`);
    return existsSync(systemFile) ? findSystem({ PAMM_STATE_DIR: stateDir }) : undefined;
  };
  return { launcher, untilReady: () => poll(START, readOnce, () => tailOf(logFile)) };
}

/** Any free ones, also other ones after each start. */
export function freePorts(): Record<string, string> {
  return Object.fromEntries(SYSTEM_PORTS.map((name) => [name, "0"]));
}

export function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SETTINGS.test(name)));
}

function launcherWith(env: Readonly<Record<string, string>>) {
  const inherited = Object.keys(process.env).filter((name) => SETTINGS.test(name));
  const unset = inherited.flatMap((name) => ["-u", name]);
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return { command: "env", args: [...unset, ...set, process.execPath, LAUNCHER] };
}
