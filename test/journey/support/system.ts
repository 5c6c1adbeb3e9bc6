import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { inject } from "vitest";
import { startOf } from "#kernel/process/process-start.ts";
import { freePort } from "../../../deploy/local/ports.ts";
import { recordedProcess } from "../../../deploy/local/process-id.ts";
import { pidFile } from "../../../deploy/local/state.ts";
import { makeRunFolder } from "../../support/run-folder.ts";
import { cleanEnvironment, run, type Running } from "./running.ts";

/** The processes that `make run` starts. */
export const PROCESSES = [
  "platform",
  "account",
  "funding",
  "subscription",
  "fee",
  "edge",
  "simulator",
  "postgres",
  "nats",
] as const;
export type ProcessName = (typeof PROCESSES)[number];

/** What the launcher writes about the running system. */
type SystemInfo = {
  readonly url: string;
  readonly apiKey: string;
  readonly simulatorControlUrl: string;
  readonly feePeriodMs: number;
  readonly feeAnchor: string;
};

/** What a test needs to call a system. */
export type RunningSystem = {
  readonly stateDir: string;
  readonly info: () => SystemInfo;
  /** Runs all scenarios of `make demo`, or the named ones. */
  readonly demo: (...scenarios: string[]) => Running;
};

/** A system that one test file started and may kill and restart. */
export type TestSystem = AsyncDisposable &
  RunningSystem & {
    /** Output of all launchers. */
    readonly output: () => string;
    /** Sends SIGKILL by default; resolves when the launcher has restarted the process. */
    readonly kill: (name: ProcessName, signal?: NodeJS.Signals) => Promise<void>;
    /** Suspends the process for this time. */
    readonly pause: (name: ProcessName, ms: number) => Promise<void>;
    /** Ctrl-C, or SIGKILL of all processes at once, then a new start with the same state and ports; `between` runs while nothing does. */
    readonly restart: (signal?: "SIGINT" | "SIGKILL", between?: () => Promise<void>) => Promise<void>;
  };

const ROOT = join(import.meta.dirname, "../../..");
const LAUNCHER = [process.execPath, join(ROOT, "deploy/local/run.ts")];
const DEMO = [process.execPath, join(ROOT, "deploy/demo/run.ts")];
const IS_READY = "Ctrl-C stops everything";
const PID_FILES: Partial<Record<ProcessName, string>> = {
  postgres: "postgres/postmaster.pid",
  nats: "nats/nats-server.pid",
};

/** Longest pause before a process that ends repeatedly is started again, and its start. */
const RESTARTED_MS = 30_000;

/** Starts from a copy of a state, because a new one takes seconds to make. */
export async function startTestSystem(settings: NodeJS.ProcessEnv = {}, from?: string): Promise<TestSystem> {
  const folder = makeRunFolder();
  const stateDir = join(folder.path, "state");
  await promisify(execFile)("cp", ["-a", from ?? (await madePath("/state")), stateDir]);
  const env = environmentOf(stateDir, { ...(await freePorts()), ...settings });
  const launchers = [run(LAUNCHER, env)];
  const current = (): Running => launchers.at(-1)!;
  const end = async (signal: NodeJS.Signals = "SIGINT"): Promise<void> => {
    current().signal(signal);
    await current().ended;
  };
  const system: TestSystem = {
    ...systemAt(stateDir),
    output: () => launchers.map((launcher) => launcher.output()).join(""),
    async kill(name, signal = "SIGKILL") {
      const after = current().output().length;
      process.kill(await untilRunning(stateDir, name), signal);
      await current().waitFor(`${name} runs again`, { after });
    },
    async pause(name, ms) {
      const pid = pidOf(stateDir, name);
      process.kill(pid, "SIGSTOP");
      await sleep(ms);
      process.kill(pid, "SIGCONT");
    },
    async restart(signal, between) {
      await end(signal);
      if (between !== undefined) await untilStoresEnded(stateDir);
      await between?.();
      launchers.push(run(LAUNCHER, env));
      await current().waitFor(IS_READY);
    },
    async [Symbol.asyncDispose]() {
      const hasEnded = !current().isRunning();
      await end();
      folder[Symbol.dispose]();
      // The tests of the system failed for this reason.
      if (hasEnded) throw new Error(`the system ended by itself:\n${current().output()}`);
    },
  };
  try {
    await current().waitFor(IS_READY);
  } catch (error) {
    await system[Symbol.asyncDispose]();
    throw error;
  }
  return system;
}

/** The path that the set-up of the journeys returns for this name. */
export async function madePath(name: "/state" | "/system"): Promise<string> {
  const response = await fetch(new URL(name, inject("journeysUrl")));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

/** The running system of a state directory, also when another process started it. */
export function systemAt(stateDir: string): RunningSystem {
  return {
    stateDir,
    info: () => JSON.parse(readFileSync(join(stateDir, "run/system.json"), "utf8")) as SystemInfo,
    demo: (...scenarios) => run([...DEMO, ...scenarios], environmentOf(stateDir, {})),
  };
}

/** `make run` with an empty state that is expected to fail; returns its exit code and output. */
export async function failedStart(
  settings: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const folder = makeRunFolder();
  const launcher = run(LAUNCHER, environmentOf(join(folder.path, "state"), settings));
  const code = await launcher.ended;
  folder[Symbol.dispose]();
  return { code, output: launcher.output() };
}

/** `make demo` without a running system. */
export function demoWithoutSystem(): Running {
  return run(DEMO, environmentOf("/nonexistent", {}));
}

/** Ports that stay the same after a restart. */
async function freePorts(): Promise<NodeJS.ProcessEnv> {
  const names = ["PAMM_HTTP_PORT", "PAMM_METRICS_PORT", "SIM_PORT", "SIM_CONTROL_PORT"];
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, String(await freePort())])));
}

export function environmentOf(stateDir: string, settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...cleanEnvironment(),
    PAMM_STATE_DIR: stateDir,
    PAMM_HTTP_PORT: "0",
    PAMM_METRICS_PORT: "0",
    SIM_PORT: "0",
    SIM_CONTROL_PORT: "0",
    ...settings,
  };
}

/** The stores of a launcher that was killed end a moment after it; their files must not be copied or replaced before. */
async function untilStoresEnded(stateDir: string): Promise<void> {
  for (const name of ["postgres", "nats"] as const) {
    const pid = existsSync(join(stateDir, PID_FILES[name] ?? "")) ? findPid(stateDir, name) : undefined;
    for (const byMs = performance.now() + RESTARTED_MS; pid !== undefined && startOf(pid) !== ""; await sleep(50)) {
      if (performance.now() > byMs) throw new Error(`${name} has not ended`);
    }
  }
}

/** A process of platform ends by itself when Postgres was killed, and is started again. */
async function untilRunning(stateDir: string, name: ProcessName): Promise<number> {
  const byMs = performance.now() + RESTARTED_MS;
  for (;;) {
    const pid = findPid(stateDir, name);
    if (pid !== undefined) return pid;
    if (performance.now() > byMs) throw new Error(`${name} does not run`);
    await sleep(100);
  }
}

function pidOf(stateDir: string, name: ProcessName): number {
  const pid = findPid(stateDir, name);
  if (pid === undefined) throw new Error(`${name} does not run`);
  return pid;
}

function findPid(stateDir: string, name: ProcessName): number | undefined {
  const own = PID_FILES[name];
  return own === undefined
    ? recordedProcess(pidFile(stateDir, name))
    : Number.parseInt(readFileSync(join(stateDir, own), "utf8"), 10);
}
