import type { Violation } from "./checks/violation.ts";
import { History } from "./history.ts";
import type { Plan } from "./plan/plan.ts";
import type { Hits } from "./report/coverage.ts";
import { installVirtualTime } from "./world/virtual-time.ts";

export type Result = {
  readonly plan: Plan;
  readonly violation: Violation | undefined;
  /** The same for the same plan. */
  readonly traceHash: string;
  readonly steps: number;
  readonly simulatedMs: number;
  readonly hits: Hits;
  readonly crashes: number;
  readonly faults: number;
  /** What happened, line by line; only when it was asked for. */
  readonly lines: readonly string[];
};

export type SimulationOptions = { readonly isTold?: boolean };

/** Lives through a plan, from the first command until all is quiet or something is wrong. */
export async function simulate(plan: Plan, { isTold = false }: SimulationOptions = {}): Promise<Result> {
  installVirtualTime();
  const history = new History(plan, isTold);
  await history.live();
  const { scheduler, notes, startMs } = history;
  return {
    plan,
    violation: notes.violation,
    traceHash: scheduler.traceHash,
    steps: scheduler.steps,
    simulatedMs: scheduler.nowMs - startMs,
    hits: history.coverage.hits(),
    crashes: history.coverage.crashes,
    faults: history.coverage.faults,
    lines: notes.lines,
  };
}
