import type { FaultPointKind } from "../plan/plan.ts";
import { type Host, runOnHost } from "./virtual-time.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** The parts of the world that all processes share. */
export type SharedParts = {
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** Called when a process receives a result: a fault may hit it. */
  readonly hit: (process: SimulatedProcess, at: FaultPointKind | undefined, label: string) => void;
};

/** The error of the clock of a machine. A process that is restarted there has the same clock. */
export type Clock = { skewMs: number };

export type ProcessOptions = {
  readonly name: string;
  readonly shared: SharedParts;
  readonly clock: Clock;
  /** False for callers, which no fault hits. */
  readonly canCrash: boolean;
};

/**
 * Timers of idle loops are lengthened up to these limits: the services must tolerate slow timers, and fewer events make a
 * simulated minute cheap.
 */
const IDLE_TIMER_MS = 9_000;
const BUSY_TIMER_MS = 700;
const SHORT_TIMER_MS = 1_100;
/** Results that came during a pause arrive within this time after it. */
const BACKLOG_MS = 2;

/** One process of the simulated world. It receives all awaited results through `deliver`, and none after a crash. */
export class SimulatedProcess implements Host {
  readonly name: string;
  readonly canCrash: boolean;
  isRunning = true;
  /** Requests in progress; timers are lengthened less while there are any. */
  requests = 0;
  readonly #shared: SharedParts;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #startedAtMs: number;
  #pausedUntilMs = 0;
  readonly #ends = new Set<() => void>();

  constructor({ name, shared, clock, canCrash }: ProcessOptions) {
    this.name = name;
    this.canCrash = canCrash;
    this.#shared = shared;
    this.#clock = clock;
    this.#random = shared.random.for(name);
    this.#startedAtMs = shared.scheduler.nowMs;
  }

  nowMs = (): number => Math.floor(this.#shared.scheduler.nowMs + this.#clock.skewMs);

  monotonicMs = (): number => 1_000 + this.#shared.scheduler.nowMs - this.#startedAtMs;

  uuid = (): string => {
    const digits = Array.from({ length: 32 }, () => this.#random.whole(0, 15).toString(16)).join("");
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  };

  setTimer = (ms: number, run: () => void): { readonly cancel: () => void } => {
    return this.#shared.scheduler.after(this.#lengthened(ms), `${this.name} timer`, () => this.#resume(run));
  };

  setImmediate = (run: () => void): void => {
    this.#shared.scheduler.after(this.#random.next(), `${this.name} immediate`, () => this.#resume(run));
  };

  run<T>(work: () => T): T {
    return runOnHost(this, work);
  }

  /** Delivers a result. A fault may crash or pause the process before it receives the result. */
  deliver(at: FaultPointKind | undefined, label: string, receive: () => void): void {
    if (!this.isRunning) return;
    if (this.canCrash) this.#shared.hit(this, at, label);
    this.#resume(receive);
  }

  /** SIGKILL: the process receives no further result. */
  crash(): void {
    if (!this.isRunning) return;
    this.isRunning = false;
    for (const end of this.#ends) end();
  }

  whenCrashed(end: () => void): Disposable {
    this.#ends.add(end);
    return { [Symbol.dispose]: () => void this.#ends.delete(end) };
  }

  /** SIGSTOP for a while: the other processes continue, and results are delivered when the process resumes. */
  pause(forMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#shared.scheduler.nowMs + forMs);
  }

  #resume(run: () => void): void {
    if (!this.isRunning) return;
    const { scheduler } = this.#shared;
    const leftMs = this.#pausedUntilMs - scheduler.nowMs;
    if (leftMs <= 0) runOnHost(this, run);
    else scheduler.after(leftMs + this.#random.next() * BACKLOG_MS, `${this.name} resumes`, () => this.#resume(run));
  }

  #lengthened(ms: number): number {
    if (!this.canCrash || ms > SHORT_TIMER_MS) return ms + this.#random.next();
    const longest = this.requests > 0 ? BUSY_TIMER_MS : IDLE_TIMER_MS;
    return ms + this.#random.next() * Math.max(0, longest - ms);
  }
}
