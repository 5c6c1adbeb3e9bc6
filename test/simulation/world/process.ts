import type { StepClass } from "../plan/plan.ts";
import { type Host, runOnHost } from "./virtual-time.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** The parts of the world that every process uses. */
export type Surroundings = {
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** Called when a process receives a result: a fault may hit it. */
  readonly hit: (process: SimulatedProcess, step: StepClass, label: string) => void;
};

/** The clock of a machine and its current error. A process that is restarted there has the same clock. */
export type Clock = { skewMs: number };

export type ProcessOptions = {
  readonly name: string;
  readonly around: Surroundings;
  readonly clock: Clock;
  /** False for callers, which no fault hits. */
  readonly isCrashing: boolean;
};

/** Idle loops are slowed down: slowness is always allowed, and it makes a simulated minute cheap. */
const IDLE_TIMER_MS = 9_000;
const BUSY_TIMER_MS = 700;
const SHORT_TIMER_MS = 1_100;
/** Results that came during a pause arrive within this time after it. */
const BACKLOG_MS = 2;

/** One process of the simulated world. All awaited results are delivered here; after a crash none is delivered. */
export class SimulatedProcess implements Host {
  readonly name: string;
  readonly isCrashing: boolean;
  isRunning = true;
  /** Requests in progress; idle loops are slowed down only when there are none. */
  requests = 0;
  readonly #around: Surroundings;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #startedAtMs: number;
  #stoppedUntilMs = 0;
  readonly #ends = new Set<() => void>();

  constructor({ name, around, clock, isCrashing }: ProcessOptions) {
    this.name = name;
    this.isCrashing = isCrashing;
    this.#around = around;
    this.#clock = clock;
    this.#random = around.random.for(name);
    this.#startedAtMs = around.scheduler.nowMs;
  }

  nowMs = (): number => Math.floor(this.#around.scheduler.nowMs + this.#clock.skewMs);

  monotonicMs = (): number => 1_000 + this.#around.scheduler.nowMs - this.#startedAtMs;

  uuid = (): string => {
    const digits = Array.from({ length: 32 }, () => this.#random.whole(0, 15).toString(16)).join("");
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  };

  setTimer = (ms: number, run: () => void): { readonly cancel: () => void } => {
    return this.#around.scheduler.after(this.#stretched(ms), `${this.name} timer`, () => this.#resume(run));
  };

  run<T>(work: () => T): T {
    return runOnHost(this, work);
  }

  /** Delivers a result. A fault may crash or pause the process before it receives the result. */
  deliver(step: StepClass | undefined, label: string, receive: () => void): void {
    if (!this.isRunning) return;
    if (this.isCrashing && step !== undefined) this.#around.hit(this, step, label);
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
  stop(forMs: number): void {
    this.#stoppedUntilMs = Math.max(this.#stoppedUntilMs, this.#around.scheduler.nowMs + forMs);
  }

  #resume(run: () => void): void {
    if (!this.isRunning) return;
    const { scheduler } = this.#around;
    const leftMs = this.#stoppedUntilMs - scheduler.nowMs;
    if (leftMs <= 0) runOnHost(this, run);
    else scheduler.after(leftMs + this.#random.next() * BACKLOG_MS, `${this.name} resumes`, () => this.#resume(run));
  }

  #stretched(ms: number): number {
    if (!this.isCrashing || ms > SHORT_TIMER_MS) return ms + this.#random.next();
    const longest = this.requests > 0 ? BUSY_TIMER_MS : IDLE_TIMER_MS;
    return ms + this.#random.next() * Math.max(0, longest - ms);
  }
}
