import { parentPort, workerData } from "node:worker_threads";
import { patchSources } from "./sabotage/patch-sources.ts";
import { MISTAKES } from "./sabotage/sabotages.ts";
import type { Keeping, Telling, Work } from "./work.ts";

const work = workerData as Work | Telling | Keeping;
const sabotage = MISTAKES.find(({ name }) => name === work.sabotage);
if (sabotage === undefined && work.sabotage !== undefined) throw new Error(`no sabotage is called ${work.sabotage}`);
patchSources(sabotage?.edits ?? []);
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
