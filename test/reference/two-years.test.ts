import fc from "fast-check";
import { expect, test } from "vitest";
import { countFigures } from "../support/figures.ts";
import { sized } from "../support/proof.ts";
import { expectConserved } from "./conserved.ts";
import { type MakePool, newWorld } from "./engine/world.ts";
import { weeklyHistories } from "./history.ts";
import { modelFees } from "./model-fees.ts";
import { modelPool, newTally } from "./model-pool.ts";
import { FIRST_DAY, runHistory } from "./run-history.ts";

const SHAPE = { investors: 4, masters: 2, steps: 3, weeks: 104 };
/** The exact fractions of the reference grow with every event, so a history takes seconds. */
const RUNS = sized({ test: 2, proof: 60 });
const TIMEOUT = { timeout: sized({ test: 120_000, proof: 60 * 60_000 }) };

test("every cent of two years with weekly fees equals the result in exact fractions", TIMEOUT, () => {
  const tally = newTally();
  const property = fc.property(weeklyHistories(SHAPE), (history) => {
    const makePool: MakePool = (clock) => modelPool(tally, clock);
    const world = newWorld({ ...history, now: FIRST_DAY, makePool, onFeeEvent: modelFees() });
    runHistory(world, history, expectConserved);
  });
  const { failed, errorInstance } = fc.check(property, { seed: 20_260_104, numRuns: RUNS, endOnFailure: true });
  expect(failed ? (errorInstance as Error).message : undefined).toBeUndefined();
  countFigures({ "allocations compared": tally.allocations });
  expect(tally.allocations).toBeGreaterThan(80 * RUNS);
});
