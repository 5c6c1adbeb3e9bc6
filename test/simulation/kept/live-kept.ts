import { simulate } from "../simulate.ts";
import { KEPT_HISTORIES } from "./kept-histories.ts";

const SEEDS = 12;

/** What is wrong in each of its seeds in which anything is. */
export async function liveKept(title: string): Promise<readonly string[]> {
  const kept = KEPT_HISTORIES.find((each) => each.title === title);
  if (kept === undefined) throw new Error(`no kept history is called ${title}`);
  const wrong: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violation } = await simulate(kept.plan(seed));
    if (violation !== undefined) wrong.push(`${violation.invariant}: ${violation.message}`);
  }
  return wrong;
}
