import type { StepClass } from "../plan/plan.ts";
import { type Host, inTimeOf } from "./virtual-time.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** The part of the world that every process touches. */
export type Surroundings = {
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** Bad luck may hit a process where something comes back to it. */
  readonly strike: (process: SimulatedProcess, step: StepClass, label: string) => void;
};

/** The clock of a machine: how far it is off now. Whatever is started there again has the same one. */
export type Clock = { skewMs: number };

export type ProcessOptions = {
  readonly name: string;
  readonly around: Surroundings;
  readonly clock: Clock;
  /** Callers and people at the platform are hit by nothing. */
  readonly isCrashing: boolean;
};

/** Idle loops look less often than they would: being slow is always allowed, and it keeps a simulated minute short. */
const IDLE_TIMER_MS = 9_000;
const BUSY_TIMER_MS = 700;
const SHORT_TIMER_MS = 1_100;
/** Answers that came while the process was stopped arrive within this time of its waking. */
const BACKLOG_MS = 2;

/** One process of the simulated world. What it waits for comes back to it here, or never when it has died. */
export class SimulatedProcess implements Host {
  readonly name: string;
  readonly isCrashing: boolean;
  isAlive = true;
  /** Requests that it is answering; idle loops are slow only without any. */
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
    return inTimeOf(this, work);
  }

  /** Something that it waited for is there. It may die of it, or stop; only then does it see it. */
  deliver(step: StepClass | undefined, label: string, see: () => void): void {
    if (!this.isAlive) return;
    if (this.isCrashing && step !== undefined) this.#around.strike(this, step, label);
    this.#resume(see);
  }

  /** SIGKILL: nothing that it waits for ever comes back. */
  crash(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    for (const end of this.#ends) end();
  }

  whenDead(end: () => void): Disposable {
    this.#ends.add(end);
    return { [Symbol.dispose]: () => void this.#ends.delete(end) };
  }

  /** SIGSTOP for a while: the world goes on, and everything that came meanwhile is there when it wakes. */
  stop(forMs: number): void {
    this.#stoppedUntilMs = Math.max(this.#stoppedUntilMs, this.#around.scheduler.nowMs + forMs);
  }

  #resume(run: () => void): void {
    if (!this.isAlive) return;
    const { scheduler } = this.#around;
    const leftMs = this.#stoppedUntilMs - scheduler.nowMs;
    if (leftMs <= 0) inTimeOf(this, run);
    else scheduler.after(leftMs + this.#random.next() * BACKLOG_MS, `${this.name} wakes`, () => this.#resume(run));
  }

  #stretched(ms: number): number {
    if (!this.isCrashing || ms > SHORT_TIMER_MS) return ms + this.#random.next();
    const longest = this.requests > 0 ? BUSY_TIMER_MS : IDLE_TIMER_MS;
    return ms + this.#random.next() * Math.max(0, longest - ms);
  }
}
