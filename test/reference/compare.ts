import fc from "fast-check";
import { feesByDay } from "./engine/fees.ts";
import { type MakePool, newWorld } from "./engine/world.ts";
import { histories, type HistoryShape } from "./history.ts";
import { FIRST_DAY, runHistory } from "./run-history.ts";
import { expectConserved } from "./conserved.ts";
import { expectOwned } from "./model-equity.ts";
import { modelFees } from "./model-fees.ts";
import { expectMarked, expectProven } from "./model-masters.ts";
import { modelPool, newTally, type Tally } from "./model-pool.ts";

export type Comparison = {
  readonly seed: number;
  readonly runs: number;
  readonly shape?: HistoryShape;
};

export type Verdict = {
  /** The shortest history found that ends with a difference, as text; undefined when there is none. */
  readonly counterexample: string | undefined;
  readonly tally: Tally;
};

export const EVERYTHING: HistoryShape = {
  investors: 5,
  masters: 2,
  steps: 40,
  sequences: ["emptied", "repaired", "archived"],
};
/** A pool that loses more than it has, again and again. */
export const STOP_OUTS: HistoryShape = {
  investors: 4,
  masters: 1,
  steps: 15,
  kinds: ["deposit", "withdraw", "unassign", "assign", "result", "dealer", "protect", "compensate", "week"],
  sequences: [
    "stoppedOut",
    "stoppedOut",
    "stoppedOut",
    "stoppedOut",
    "stoppedOut",
    "overdrawn",
    "overdrawn",
    "overdrawn",
  ],
};
/** Few Investors and many versions of their fees. */
export const FEE_VERSIONS: HistoryShape = {
  investors: 2,
  masters: 2,
  steps: 40,
  kinds: ["deposit", "withdraw", "assign", "unassign", "result", "switch", "version", "cancel", "week"],
};

/** Applies random histories to the reference and to the code under test at once. */
export function compareWithReference({ seed, runs, shape = EVERYTHING }: Comparison): Verdict {
  const tally = newTally();
  const property = fc.property(histories(shape), (history) => {
    const makePool: MakePool = (clock) => modelPool(tally, clock);
    const world = newWorld({ ...history, now: FIRST_DAY, makePool, onFeeEvent: modelFees() });
    runHistory(world, history, () => {
      expectConserved(world);
      expectProven(world);
      expectMarked(world);
      expectOwned(world);
      // Compares what is shown of each pool.
      for (const master of world.masters) master.pool.performance(feesByDay(master));
    });
  });
  const { failed, errorInstance } = fc.check(property, { seed, numRuns: runs });
  return { counterexample: failed ? (errorInstance as Error).message : undefined, tally };
}
