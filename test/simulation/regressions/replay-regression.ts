import { simulate } from "../simulate.ts";
import { REGRESSIONS } from "./regressions.ts";

const SEEDS = 40;

/** The violations of a regression, at most one for each of its seeds. */
export async function replayRegression(title: string): Promise<readonly string[]> {
  const regression = REGRESSIONS.find((each) => each.title === title);
  if (regression === undefined) throw new Error(`there is no regression with the title ${title}`);
  const violations: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violation } = await simulate(regression.plan(seed));
    if (violation !== undefined) violations.push(`${violation.invariant}: ${violation.message}`);
  }
  return violations;
}
