import { expect, test } from "vitest";
import { countFigures } from "../../support/figures.ts";
import { IS_PROOF, sized } from "../../support/proof.ts";
import { GROWTH_MUTANT } from "../mutants/databases.ts";
import { inThread } from "../run-workers.ts";

/** A quarter of a year in `make test`, two years in `make proof`. */
const WEEKS = sized({ test: 15, proof: 104 });
/** The mutant adds layers in every week: `make proof` shows that it is seen. */
const MUTANT_WEEKS = 15;
const TIMEOUT_MS = 20 * 60_000;

test(
  "a week costs the same after months: statements, rows of answers, open rows and layers of profit stay flat",
  async () => {
    const { weeks, problems } = await inThread({ weeks: WEEKS, mutant: undefined });
    expect(weeks).toHaveLength(WEEKS);
    expect(problems).toEqual([]);
    countFigures({ "simulated fee weeks": WEEKS });
  },
  TIMEOUT_MS,
);

test.runIf(IS_PROOF)(
  "layers that are never joined are found as growth",
  async () => {
    const { problems } = await inThread({ weeks: MUTANT_WEEKS, mutant: GROWTH_MUTANT.name });
    expect(problems.join()).toContain("layers of profit");
  },
  TIMEOUT_MS,
);
