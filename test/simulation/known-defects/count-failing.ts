import { simulate } from "../simulate.ts";
import { KNOWN_DEFECTS } from "./known-defects.ts";

const SEEDS = 6;

export async function countFailing(title: string): Promise<number> {
  const defect = KNOWN_DEFECTS.find((known) => known.title === title);
  if (defect === undefined) throw new Error(`no known defect is called ${title}`);
  let failing = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violation } = await simulate(defect.plan(seed));
    if (violation !== undefined) failing += 1;
  }
  return failing;
}
