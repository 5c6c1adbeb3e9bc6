import { expect, test } from "vitest";
import { IS_PROOF, sized } from "../../support/proof.ts";
import { inThread } from "../run-workers.ts";
import { REGRESSIONS } from "./regressions.ts";

const TIMEOUT_MS = 20 * 60_000;
const SEEDS = sized({ test: 3, proof: 40 });
/** Some mutants break an invariant with one seed of ten only. */
const MUTANT_SEEDS = 40;

test(
  "no invariant breaks in a regression",
  async () => {
    const regressions = REGRESSIONS.map(({ title }) => title);
    expect(await inThread({ regressions, mutant: undefined, seeds: SEEDS })).toEqual([]);
  },
  TIMEOUT_MS,
);

/** A history stays as it is, so `make test` does not ask again whether it shows its defect. */
test.runIf(IS_PROOF).each(REGRESSIONS.filter(({ mutant }) => mutant !== undefined))(
  "the mutant of the regression is detected: $title",
  async ({ title, mutant }) => {
    expect(await inThread({ regressions: [title], mutant, seeds: MUTANT_SEEDS })).not.toEqual([]);
  },
  TIMEOUT_MS,
);
