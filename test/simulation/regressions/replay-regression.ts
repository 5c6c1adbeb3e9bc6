import { simulate } from "../simulate.ts";
import { REGRESSIONS } from "./regressions.ts";

/** The first violation of a regression with so many seeds; undefined when there is none. */
export async function replayRegression(title: string, seeds: number): Promise<string | undefined> {
  const regression = REGRESSIONS.find((each) => each.title === title);
  if (regression === undefined) throw new Error(`there is no regression with the title ${title}`);
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { violation } = await simulate(regression.plan(seed));
    if (violation !== undefined) return `${violation.invariant}: ${violation.message}`;
  }
  return undefined;
}
