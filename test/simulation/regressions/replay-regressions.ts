import { simulate } from "../simulate.ts";
import { REGRESSIONS } from "./regressions.ts";

/** The first violation of each of these regressions that breaks an invariant with one of so many seeds. */
export async function replayRegressions(titles: readonly string[], seeds: number): Promise<readonly string[]> {
  const violations: string[] = [];
  for (const { title, plan } of REGRESSIONS.filter((each) => titles.includes(each.title))) {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const { violation } = await simulate(plan(seed));
      if (violation === undefined) continue;
      violations.push(`${violation.invariant}: ${violation.message}, in the regression: ${title}`);
      break;
    }
  }
  return violations;
}
