import type { Log } from "../../services/kernel/process/log.ts";
import { Violation } from "./checks/violation.ts";
import type { Scheduler } from "./world/scheduler.ts";

/** The event log of a history, and its first violation. */
export class Notes {
  readonly lines: string[] = [];
  violation: Violation | undefined;
  readonly #scheduler: Scheduler;
  readonly #isRecorded: boolean;
  readonly #startMs: number;

  constructor(scheduler: Scheduler, isRecorded: boolean) {
    this.#scheduler = scheduler;
    this.#isRecorded = isRecorded;
    this.#startMs = scheduler.nowMs;
  }

  readonly note = (text: () => string): void => {
    if (!this.#isRecorded) return;
    const seconds = ((this.#scheduler.nowMs - this.#startMs) / 1_000).toFixed(3);
    this.lines.push(`${seconds.padStart(9)}  ${text()}`);
  };

  readonly noteAll = (texts: () => readonly string[]): void => {
    if (this.#isRecorded) for (const text of texts()) this.note(() => text);
  };

  /** Records a violation. Any other error is a defect of the simulation, and is thrown. */
  readonly check = (work: () => void): void => {
    try {
      work();
    } catch (problem) {
      this.recordViolation(problem);
    }
  };

  readonly recordViolation = (problem: unknown): void => {
    if (!(problem instanceof Violation)) throw problem;
    this.violation ??= problem;
    this.note(() => `>> ${problem.invariant}: ${problem.message}`);
  };

  /** Log lines of the services appear between the simulated events. */
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
