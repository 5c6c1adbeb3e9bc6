import type { Fault, Plan, StepClass, Trouble } from "../plan/plan.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";

type Kind<Name extends Fault["kind"]> = Extract<Fault, { readonly kind: Name }>;

/** Told of everything bad, for the history and for the table of what was hit. */
export type Watcher = {
  readonly struck: (fault: "crash" | "pause", place: Place) => void;
  readonly died: (process: SimulatedProcess, downMs: number) => void;
};

/** Where a process was hit. */
export type Place = { readonly step: StepClass; readonly label: string; readonly process: SimulatedProcess };

/** Hands out the bad luck of the plan: each fault once, where its count comes up. */
export class Faults {
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #watcher: Watcher;
  readonly #startMs: number;
  readonly #counts = new Map<string, number>();
  readonly #left: Fault[];

  constructor(plan: Plan, scheduler: Scheduler, watcher: Watcher) {
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.#watcher = watcher;
    this.#startMs = scheduler.nowMs;
    this.#left = [...plan.faults];
  }

  get isCalm(): boolean {
    return this.#scheduler.nowMs - this.#startMs >= this.#plan.calmFromMs;
  }

  /** Faults that come at a time of their own. */
  timed(): readonly Extract<Fault, { readonly atMs: number }>[] {
    return this.#plan.faults.filter((fault) => "atMs" in fault);
  }

  /** A process gets something back: here it may die or stop. */
  strike(process: SimulatedProcess, at: StepClass, label: string): void {
    const place = { step: at, label, process };
    const nth = this.#next(at);
    const crash = this.#take("crash", (fault) => fault.at === at && fault.nth === nth);
    if (crash !== undefined) {
      this.#watcher.struck("crash", place);
      process.crash();
      this.#watcher.died(process, crash.downMs);
    }
    const pause = this.#take("pause", (fault) => fault.at === at && fault.nth === nth);
    if (pause !== undefined) {
      this.#watcher.struck("pause", place);
      process.stop(pause.forMs);
    }
  }

  commit(): Kind<"lost_commit"> | undefined {
    return this.#counted("lost_commit");
  }

  connection(): boolean {
    return this.#counted("lost_connection") !== undefined;
  }

  command(): Trouble | undefined {
    return this.#counted("command")?.trouble;
  }

  read(): boolean {
    const sinceMs = this.#scheduler.nowMs - this.#startMs;
    const isNow = (fault: Kind<"failed_reads">) => sinceMs >= fault.atMs && sinceMs < fault.atMs + fault.forMs;
    return !this.isCalm && this.#plan.faults.some((fault) => fault.kind === "failed_reads" && isNow(fault));
  }

  doublesCall(): boolean {
    return this.#counted("doubled_call") !== undefined;
  }

  losesAnswer(): boolean {
    return this.#counted("lost_answer") !== undefined;
  }

  #counted<Name extends "lost_commit" | "lost_connection" | "command" | "doubled_call" | "lost_answer">(
    kind: Name,
  ): Kind<Name> | undefined {
    const nth = this.#next(kind);
    return this.#take(kind, (fault) => "nth" in fault && fault.nth === nth);
  }

  #next(of: string): number {
    const nth = (this.#counts.get(of) ?? 0) + 1;
    this.#counts.set(of, nth);
    return nth;
  }

  #take<Name extends Fault["kind"]>(kind: Name, isIt: (fault: Kind<Name>) => boolean): Kind<Name> | undefined {
    if (this.isCalm) return undefined;
    const place = this.#left.findIndex((fault) => fault.kind === kind && isIt(fault as Kind<Name>));
    return place < 0 ? undefined : (this.#left.splice(place, 1)[0] as Kind<Name>);
  }
}
