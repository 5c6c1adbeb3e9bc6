import { parentPort, workerData } from "node:worker_threads";
import { patchSources } from "./mutants/patch-sources.ts";
import { PLANTED_DEFECTS } from "./mutants/all-mutants.ts";
import type { ReplayWork, DescribeWork, Work } from "./work.ts";

const work = workerData as Work | DescribeWork | ReplayWork;
const mutant = PLANTED_DEFECTS.find(({ name }) => name === work.mutant);
if (mutant === undefined && work.mutant !== undefined) throw new Error(`no mutant is called ${work.mutant}`);
patchSources(mutant?.edits ?? []);
parentPort?.postMessage(await answer());

/** The simulation is imported after the hooks are installed, so that the edits are in it. */
async function answer(): Promise<unknown> {
  if ("describe" in work) {
    const { describeSeed } = await import("./report/describe-seed.ts");
    return await describeSeed(work.describe, work.mode);
  }
  if ("regression" in work) {
    const { replayRegression } = await import("./regressions/replay-regression.ts");
    return await replayRegression(work.regression);
  }
  const { runSeeds } = await import("./run-seeds.ts");
  return await runSeeds(work);
}
