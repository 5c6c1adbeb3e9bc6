import { createLog, LOG_LEVELS, type Log, type LogLevel } from "./log.ts";
import { StartupError } from "./startup-error.ts";

export type ServiceContext = {
  /** Adopt every resource here; on the way out they are released in reverse order. */
  readonly stack: AsyncDisposableStack;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Aborted when the service begins to stop. */
  readonly signal: AbortSignal;
  /** A loop that must not end before the service does: when it fails, or ends, the service stops with exit code 1. */
  readonly watch: (task: string, loop: Promise<unknown>) => void;
};

/** A resource that has not been released by then is not waited for. */
const HARD_STOP_MS = 15_000;

/** The life of a process: start, run until told to stop, drain in order, exit. Never returns. */
export async function runService(name: string, start: (context: ServiceContext) => Promise<void>): Promise<never> {
  const log = createLog({ service: name, level: logLevelOf(process.env["LOG_LEVEL"]) });
  const stopping = new AbortController();
  const stack = new AsyncDisposableStack();
  let exitCode = 0;
  const stop = (code: number): void => {
    exitCode = Math.max(exitCode, code);
    if (stopping.signal.aborted) return;
    stopping.abort();
    setTimeout(() => exitHard(log, "draining took too long"), HARD_STOP_MS).unref();
  };
  const fail = (message: string, fields: { task?: string; error?: unknown }): void => {
    // Losing its resources makes a loop fail while the service drains; that is not news.
    if (!stopping.signal.aborted) log.fatal(message, fields);
    stop(1);
  };
  listenToSignals(log, stopping.signal, () => stop(0));
  process.on("uncaughtException", (error) => fail("an error was caught by nobody", { error }));

  const watch = (task: string, loop: Promise<unknown>): void => {
    loop.then(
      () => stopping.signal.aborted || fail("a background task ended", { task }),
      (error: unknown) => fail("a background task failed", { task, error }),
    );
  };
  try {
    const told = aborted(stopping.signal);
    await Promise.race([start({ stack, env: process.env, log, signal: stopping.signal, watch }), told]);
    if (!stopping.signal.aborted) log.info("started", { pid: process.pid });
    await told;
  } catch (error) {
    if (!stopping.signal.aborted) reportStartFailure(name, log, error);
    stop(1);
  }
  await drain(stack, log, () => stop(1));
  process.exit(exitCode);
}

/**
 * Ctrl-C reaches every process of the terminal's group at once, and services that go down together cannot finish each
 * other's work. A process whose parent keeps an IPC channel to it therefore leaves SIGINT to the parent, which stops its
 * children one after the other by SIGTERM; when the parent is gone, it stops by itself.
 */
function listenToSignals(log: Log, stopping: AbortSignal, stop: () => void): void {
  const isSupervised = process.connected === true;
  const onSignal = (signal: string): void => {
    if (stopping.aborted) exitHard(log, "told to stop a second time");
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
    log.error("a resource could not be released", { error });
    onError();
  }
}

/** What operators can act on is one plain line (or one per mistake); anything else is a defect and keeps its stack. */
function reportStartFailure(name: string, log: Log, error: unknown): void {
  if (!(error instanceof StartupError)) log.fatal("start failed", { error });
  const message = error instanceof Error ? error.message : String(error);
  for (const line of message.split("\n")) process.stderr.write(`${name} cannot start: ${line}\n`);
}

function exitHard(log: Log, reason: string): never {
  log.fatal("stopped without draining", { reason });
  process.exit(1);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** The log exists before the configuration is read, so a wrong level is reported there and not here. */
function logLevelOf(text: string | undefined): LogLevel {
  return LOG_LEVELS.find((level) => level === text) ?? "info";
}
