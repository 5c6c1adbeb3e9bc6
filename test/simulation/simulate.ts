import type { Violation } from "./checks/violation.ts";
import { History } from "./history.ts";
import type { Plan } from "./plan/plan.ts";
import type { Hits } from "./report/coverage.ts";
import { installVirtualTime } from "./world/virtual-time.ts";

export type Result = {
  readonly plan: Plan;
  readonly violation: Violation | undefined;
  /** Equal for equal plans. */
  readonly traceHash: string;
  readonly events: number;
  readonly simulatedMs: number;
  readonly hits: Hits;
  readonly crashes: number;
  readonly faults: number;
  /** The events, one per line; empty unless `isRecorded`. */
  readonly lines: readonly string[];
};

export type SimulationOptions = { readonly isRecorded?: boolean };

/** Runs a plan until no work is left, its time limit is reached, or an invariant is broken. */
export async function simulate(plan: Plan, { isRecorded = false }: SimulationOptions = {}): Promise<Result> {
  installVirtualTime();
  const history = new History(plan, isRecorded);
  await history.run();
  const { scheduler, notes, startMs } = history;
  return {
    plan,
    violation: notes.violation,
    traceHash: scheduler.traceHash,
    events: scheduler.events,
    simulatedMs: scheduler.nowMs - startMs,
    hits: history.coverage.hits(),
    crashes: history.coverage.crashes,
    faults: history.coverage.faults,
    lines: notes.lines,
  };
}
