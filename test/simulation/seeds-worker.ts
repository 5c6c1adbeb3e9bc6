import { parentPort, workerData } from "node:worker_threads";
import { patchSources } from "./mutants/patch-sources.ts";
import { MISTAKES } from "./mutants/mutants.ts";
import type { Keeping, Telling, Work } from "./work.ts";

const work = workerData as Work | Telling | Keeping;
const mutant = MISTAKES.find(({ name }) => name === work.mutant);
if (mutant === undefined && work.mutant !== undefined) throw new Error(`no mutant is called ${work.mutant}`);
patchSources(mutant?.edits ?? []);
parentPort?.postMessage(await answer());

/** What lives through histories is loaded after the hooks are in place, so that the edits are in it. */
async function answer(): Promise<unknown> {
  if ("tell" in work) {
    const { tellSeed } = await import("./report/tell-seed.ts");
    return await tellSeed(work.tell, work.mode);
  }
  if ("kept" in work) {
    const { liveKept } = await import("./kept/live-kept.ts");
    return await liveKept(work.kept);
  }
  const { runSeeds } = await import("./run-seeds.ts");
  return await runSeeds(work);
}
