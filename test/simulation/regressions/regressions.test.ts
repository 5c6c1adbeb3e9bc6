import { expect, test } from "vitest";
import { sized } from "../../support/proof.ts";
import { replayRegressionInThread } from "../run-workers.ts";
import { REGRESSIONS } from "./regressions.ts";

const TIMEOUT_MS = 5 * 60_000;
const SEEDS = sized({ test: 5, proof: 40 });
/** Some mutants break an invariant with one seed of ten only. */
const MUTANT_SEEDS = 40;

test.each(REGRESSIONS)(
  "no invariant breaks in the regression, unless its mutant is applied: $title",
  async ({ title, mutant }) => {
    expect(await replayRegressionInThread({ regression: title, mutant: undefined, seeds: SEEDS })).toBeUndefined();
    if (mutant === undefined) return;
    expect(await replayRegressionInThread({ regression: title, mutant, seeds: MUTANT_SEEDS })).toBeDefined();
  },
  TIMEOUT_MS,
);
