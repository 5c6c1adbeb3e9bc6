import { parentPort, workerData } from "node:worker_threads";
import { patchSources } from "./mutants/patch-sources.ts";
import { PLANTED_DEFECTS } from "./mutants/all-mutants.ts";
import { editsOf } from "./mutants/mutant.ts";
import type { DescribeWork, GrowthWork, ReplayWork, Work } from "./work.ts";

const work = workerData as Work | DescribeWork | ReplayWork | GrowthWork;
const mutant = PLANTED_DEFECTS.find(({ name }) => name === work.mutant);
const isUnknown = mutant === undefined && work.mutant !== undefined;
if (isUnknown) throw new Error(`there is no mutant with the name ${work.mutant}`);
patchSources(mutant === undefined ? [] : editsOf(mutant));
parentPort?.postMessage(await answer());

/** Imports the simulation only now, after the hooks are installed, so that it contains the edits. */
async function answer(): Promise<unknown> {
  if ("describe" in work) {
    const { describeSeed } = await import("./report/describe-seed.ts");
    return await describeSeed(work.describe, work.mode);
  }
  if ("regressions" in work) {
    const { replayRegressions } = await import("./regressions/replay-regressions.ts");
    return await replayRegressions(work.regressions, work.seeds);
  }
  if ("weeks" in work) {
    const { grow } = await import("./growth/grow.ts");
    return await grow(work.weeks);
  }
  const { runSeeds } = await import("./run-seeds.ts");
  return await runSeeds(work);
}
