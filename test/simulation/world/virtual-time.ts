import { AsyncLocalStorage } from "node:async_hooks";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";

/** The clock, timers and random ids of one simulated process, for the code that runs in it. */
export type Host = {
  /** Milliseconds since 1970, as the clock of its machine shows them. */
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly setTimer: (ms: number, run: () => void) => { readonly cancel: () => void };
  /** After what the event loop has to do already, which is no timer. */
  readonly setImmediate: (run: () => void) => void;
  readonly uuid: () => string;
};

const hosts = new AsyncLocalStorage<Host>();
const RealDate = Date;
const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  now: performance.now.bind(performance),
  delay: timers.setTimeout,
  immediate: timers.setImmediate,
  uuid: crypto.randomUUID,
};

type Timer = { readonly cancel: () => void };

let isInstalled = false;

/** Runs code, and everything that it awaits, with the clocks of the host. */
export function runOnHost<T>(host: Host, work: () => T): T {
  return hosts.run(host, work);
}

/**
 * Replaces the clocks and timers of this thread by those of the current host. Code without a host keeps the real ones, so the
 * test runner is not affected.
 */
export function installVirtualTime(): void {
  if (isInstalled) return;
  isInstalled = true;
  globalThis.Date = VirtualDate as DateConstructor;
  performance.now = () => hosts.getStore()?.monotonicMs() ?? real.now();
  globalThis.setTimeout = Object.assign(setVirtualTimeout, real.setTimeout);
  globalThis.clearTimeout = (timer) => {
    if (isTimer(timer)) timer.cancel();
    else real.clearTimeout(timer);
  };
  Object.assign(timers, { setTimeout: virtualDelay, setImmediate: virtualImmediate });
  Object.assign(crypto, { randomUUID: () => hosts.getStore()?.uuid() ?? real.uuid() });
  syncBuiltinESMExports();
}

class VirtualDate extends RealDate {
  constructor(...args: [] | [number | string | Date]) {
    if (args.length === 0) super(VirtualDate.now());
    else super(...(args as [number]));
  }

  /** Dates that were made before, or by the engine itself, count too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof RealDate;
  }

  static override now(): number {
    return hosts.getStore()?.nowMs() ?? RealDate.now();
  }
}

function setVirtualTimeout(run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): unknown {
  const host = hosts.getStore();
  if (host === undefined) return real.setTimeout(run, ms, ...args);
  return Object.assign(
    host.setTimer(ms, () => runOnHost(host, () => run(...args))),
    { unref: () => undefined },
  );
}

function virtualDelay<T>(ms?: number, value?: T): Promise<T | undefined> {
  const host = hosts.getStore();
  if (host === undefined) return real.delay(ms, value);
  return new Promise((resolve) => {
    host.setTimer(ms ?? 0, () => resolve(value));
  });
}

function virtualImmediate<T>(value?: T): Promise<T | undefined> {
  const host = hosts.getStore();
  if (host === undefined) return real.immediate(value);
  return new Promise((resolve) => {
    host.setImmediate(() => resolve(value));
  });
}

function isTimer(timer: unknown): timer is Timer {
  return typeof timer === "object" && timer !== null && "cancel" in timer;
}
