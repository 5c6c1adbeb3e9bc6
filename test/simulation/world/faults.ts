import type { Fault, Plan, FaultPointKind, CommandFault } from "../plan/plan.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";

type CountedFault =
  | "lost_commit"
  | "lost_departure_commit"
  | "lost_connection"
  | "command"
  | "duplicate_call"
  | "lost_answer";
type Kind<Name extends Fault["kind"]> = Extract<Fault, { readonly kind: Name }>;

/** Called at each crash and pause. */
export type FaultListener = {
  readonly onFault: (fault: "crash" | "pause", point: FaultPoint) => void;
  /** Whether it is a process of the subscription service, and a withdrawal or an exit is under way. */
  readonly isDeparting: (process: SimulatedProcess) => boolean;
  readonly onCrash: (process: SimulatedProcess, downMs: number) => void;
};

/** Where a fault hit a process. */
export type FaultPoint = { readonly kind: FaultPointKind; readonly label: string; readonly process: SimulatedProcess };

/** Triggers the faults of the plan, each once, when its time or count is reached. */
export class Faults {
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #listener: FaultListener;
  readonly #startMs: number;
  readonly #counts = new Map<string, number>();
  readonly #left: Fault[];

  constructor(plan: Plan, scheduler: Scheduler, listener: FaultListener) {
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.#listener = listener;
    this.#startMs = scheduler.nowMs;
    this.#left = [...plan.faults];
  }

  get areFaultsOver(): boolean {
    return this.#scheduler.nowMs - this.#startMs >= this.#plan.faultsEndMs;
  }

  /** Faults that begin at a time of the plan; the others begin at a count. */
  timed(): readonly Extract<Fault, { readonly atMs: number }>[] {
    return this.#plan.faults.filter((fault) => "atMs" in fault);
  }

  /** Called when a process receives a result: it may crash or pause here. */
  hit(process: SimulatedProcess, at: FaultPointKind | undefined, label: string): void {
    if (this.#listener.isDeparting(process)) this.#hitAt(process, "departure", label);
    if (at !== undefined && process.isRunning) this.#hitAt(process, at, label);
  }

  #hitAt(process: SimulatedProcess, at: FaultPointKind, label: string): void {
    const point = { kind: at, label, process };
    const nth = this.#next(at);
    const crash = this.#take("crash", (fault) => fault.at === at && fault.nth === nth);
    if (crash !== undefined) {
      this.#listener.onFault("crash", point);
      process.crash();
      this.#listener.onCrash(process, crash.downMs);
    }
    const pause = this.#take("pause", (fault) => fault.at === at && fault.nth === nth);
    if (pause !== undefined) {
      this.#listener.onFault("pause", point);
      process.pause(pause.forMs);
    }
  }

  /** The fault of the commit that runs now, if any. */
  commitFault(process: SimulatedProcess): Kind<"lost_commit" | "lost_departure_commit"> | undefined {
    const lost = this.#listener.isDeparting(process) ? this.#counted("lost_departure_commit") : undefined;
    return this.#counted("lost_commit") ?? lost;
  }

  losesConnection(): boolean {
    return this.#counted("lost_connection") !== undefined;
  }

  /** The fault of the command that is sent now, if any. */
  commandFault(): CommandFault | undefined {
    return this.#counted("command")?.commandFault;
  }

  failsReads(): boolean {
    const sinceMs = this.#scheduler.nowMs - this.#startMs;
    const isNow = (fault: Kind<"failed_reads">) => sinceMs >= fault.atMs && sinceMs < fault.atMs + fault.forMs;
    return !this.areFaultsOver && this.#plan.faults.some((fault) => fault.kind === "failed_reads" && isNow(fault));
  }

  duplicatesCall(): boolean {
    return this.#counted("duplicate_call") !== undefined;
  }

  losesAnswer(): boolean {
    return this.#counted("lost_answer") !== undefined;
  }

  #counted<Name extends CountedFault>(kind: Name): Kind<Name> | undefined {
    const nth = this.#next(kind);
    return this.#take(kind, (fault) => "nth" in fault && fault.nth === nth);
  }

  #next(of: string): number {
    const nth = (this.#counts.get(of) ?? 0) + 1;
    this.#counts.set(of, nth);
    return nth;
  }

  #take<Name extends Fault["kind"]>(kind: Name, isMatch: (fault: Kind<Name>) => boolean): Kind<Name> | undefined {
    if (this.areFaultsOver) return undefined;
    const index = this.#left.findIndex((fault) => fault.kind === kind && isMatch(fault as Kind<Name>));
    return index < 0 ? undefined : (this.#left.splice(index, 1)[0] as Kind<Name>);
  }
}
