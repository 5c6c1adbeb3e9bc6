import type { Log } from "../../services/kernel/log.ts";
import { Violation } from "./checks/violation.ts";
import type { Scheduler } from "./world/scheduler.ts";

/** What a history tells, and the first thing that was wrong in it. */
export class Notes {
  readonly lines: string[] = [];
  violation: Violation | undefined;
  readonly #scheduler: Scheduler;
  readonly #isTold: boolean;
  readonly #startMs: number;

  constructor(scheduler: Scheduler, isTold: boolean) {
    this.#scheduler = scheduler;
    this.#isTold = isTold;
    this.#startMs = scheduler.nowMs;
  }

  readonly note = (text: () => string): void => {
    if (!this.#isTold) return;
    const seconds = ((this.#scheduler.nowMs - this.#startMs) / 1_000).toFixed(3);
    this.lines.push(`${seconds.padStart(9)}  ${text()}`);
  };

  readonly tell = (texts: () => readonly string[]): void => {
    if (this.#isTold) for (const text of texts()) this.note(() => text);
  };

  /** Keeps what is wrong. Anything else that is thrown is a mistake of the simulation, and ends it. */
  readonly check = (work: () => void): void => {
    try {
      work();
    } catch (problem) {
      this.blame(problem);
    }
  };

  readonly blame = (problem: unknown): void => {
    if (!(problem instanceof Violation)) throw problem;
    this.violation ??= problem;
    this.note(() => `>> ${problem.invariant}: ${problem.message}`);
  };

  /** What the service itself says stands among what happens to it. */
  log(): Log {
    const write = (message: string, fields: object = {}): void =>
      this.note(() => `   log: ${message} ${textOf(fields)}`);
    return { debug: write, info: write, warn: write, error: write, fatal: write, child: () => this.log() };
  }
}

function textOf(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${value instanceof Error ? `${value.name} ${value.message}` : String(value)}`)
    .join(" ");
}
