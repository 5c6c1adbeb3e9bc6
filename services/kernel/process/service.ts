import { once } from "node:events";
import { flushCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";
import { durationWithin } from "./config-variables.ts";
import { createLog, LOG_LEVELS, type Log, type LogLevel } from "./log.ts";
import { StartupError } from "./startup-error.ts";

export type ServiceContext = {
  /** Add every resource here; when the service stops they are released in reverse order. */
  readonly stack: AsyncDisposableStack;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Aborted when the service begins to stop. */
  readonly signal: AbortSignal;
  /** Watches a task that must run as long as the service: when it fails or ends, the service stops with exit code 1. */
  readonly watch: (task: string, loop: Promise<unknown>) => void;
  /** Ends the process in order, with exit code 0: its work is done. */
  readonly end: () => void;
  /** True from the stop signal on: no new calls should be sent to this process, but it still answers them for PAMM_DRAIN_DELAY. */
  readonly isDraining: () => boolean;
  /** Aborted from the same moment on. */
  readonly draining: AbortSignal;
};

/** How long a process still answers after its stop signal, while it says that it is not ready. */
export const DRAIN_DELAY = durationWithin("PT0S", "PT1M", "PT0S");

/** The process exits after this time, even when resources are not released. */
const HARD_STOP_MS = 15_000;

/**
 * The heap is collected when it is this much larger than what was in use. By default it may grow to four times that on a machine with
 * free memory: under load platform held 393 MiB while 36 MiB were in use.
 */
const HEAP_GROWTH = "--heap-growing-percent=30";

/** Runs a process: start, wait for a stop signal, drain in order, exit. Never returns. */
export async function runService(name: string, start: (context: ServiceContext) => Promise<void>): Promise<never> {
  setFlagsFromString(HEAP_GROWTH);
  const log = createLog({ service: name, level: logLevelOf(process.env["LOG_LEVEL"]) });
  const stopping = new AbortController();
  const stack = new AsyncDisposableStack();
  let exitCode = 0;
  const stop = (code: number): void => {
    exitCode = Math.max(exitCode, code);
    if (stopping.signal.aborted) return;
    stopping.abort();
    setTimeout(() => exitHard(log, "draining exceeded its time limit"), HARD_STOP_MS).unref();
  };
  const draining = new AbortController();
  const isDraining = (): boolean => draining.signal.aborted;
  /** Load balancers and callers find the process not ready, and stop sending to it, before it refuses connections. */
  const leave = (): void => {
    const delayMs = isDraining() ? 0 : drainDelayOf(process.env["PAMM_DRAIN_DELAY"]);
    draining.abort();
    if (delayMs > 0) log.info("draining", { retry_in_ms: delayMs });
    setTimeout(() => stop(0), delayMs);
  };
  const fail = (message: string, fields: { task?: string; error?: unknown }): void => {
    // While the service drains, a task fails because its resources are released; that is expected.
    if (!stopping.signal.aborted) log.fatal(message, fields);
    stop(1);
  };
  listenToSignals(log, stopping.signal, leave);
  process.on("uncaughtException", (error) => fail("uncaught error, the service stops", { error }));

  const watch = (task: string, loop: Promise<unknown>): void => {
    loop.then(
      () => stopping.signal.aborted || fail("background task ended, the service stops", { task }),
      (error: unknown) => fail("background task failed, the service stops", { task, error }),
    );
  };
  try {
    const stopRequested = once(stopping.signal, "abort");
    const end = (): void => stop(0);
    const { signal } = stopping;
    const context = { stack, env: process.env, log, signal, watch, end, isDraining, draining: draining.signal };
    await Promise.race([start(context), stopRequested]);
    if (!stopping.signal.aborted) log.info("started", { pid: process.pid });
    // Now and not at the exit: the next start, also after a kill, compiles nothing. Without NODE_COMPILE_CACHE it does nothing.
    flushCompileCache();
    await stopRequested;
  } catch (error) {
    if (!stopping.signal.aborted) reportStartFailure(name, log, error);
    stop(1);
  }
  await drain(stack, log, () => stop(1));
  process.exit(exitCode);
}

/**
 * Ctrl-C reaches every process of the terminal's group at once, and services that stop together cannot finish the calls
 * to each other. A process whose parent keeps an IPC channel to it therefore leaves SIGINT to the parent, which stops its
 * children one after the other by SIGTERM; when the parent is gone, it stops by itself.
 */
function listenToSignals(log: Log, stopping: AbortSignal, stop: () => void): void {
  const isSupervised = process.connected === true;
  const onSignal = (signal: string): void => {
    if (stopping.aborted) exitHard(log, "second stop signal");
    log.info("stopping", { signal });
    stop();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", (signal) => {
    if (!isSupervised) onSignal(signal);
  });
  if (isSupervised) {
    process.once("disconnect", () => {
      if (!stopping.aborted) onSignal("disconnect");
    });
  }
}

async function drain(stack: AsyncDisposableStack, log: Log, onError: () => void): Promise<void> {
  try {
    await stack.disposeAsync();
    log.info("stopped");
  } catch (error) {
    log.error("resource not released, the end of the process releases it", { error });
    onError();
  }
}

/** A StartupError is printed as one line per mistake, for operators; any other error is a defect and is logged with its stack. */
function reportStartFailure(name: string, log: Log, error: unknown): void {
  if (!(error instanceof StartupError)) log.fatal("start failed", { error });
  const message = error instanceof Error ? error.message : String(error);
  for (const line of message.split("\n")) process.stderr.write(`${name} cannot start: ${line}\n`);
}

function exitHard(log: Log, reason: string): never {
  log.fatal("stopped without draining", { reason });
  process.exit(1);
}

/** A wrong value is reported by the configuration, without which nothing is served. */
function drainDelayOf(text: string | undefined): number {
  return DRAIN_DELAY.parse(text === undefined || text === "" ? "PT0S" : text) ?? 0;
}

/** The log exists before the configuration is read, so a wrong level is reported there and not here. */
function logLevelOf(text: string | undefined): LogLevel {
  return LOG_LEVELS.find((level) => level === text) ?? "info";
}
