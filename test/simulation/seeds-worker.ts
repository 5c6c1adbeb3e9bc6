import { parentPort, workerData } from "node:worker_threads";
import { KNOWN_DEFECTS } from "./known-defects/known-defects.ts";
import { doFit, patchSources } from "./sabotage/patch-sources.ts";
import { SABOTAGES } from "./sabotage/sabotages.ts";
import type { Showing, Telling, Work } from "./work.ts";

const work = workerData as Work | Telling | Showing;
const sabotage = SABOTAGES.find(({ name }) => name === work.sabotage);
const mends = work.isMended ? KNOWN_DEFECTS.filter(({ mend }) => doFit(mend)).flatMap(({ mend }) => mend) : [];
patchSources([...mends, ...(sabotage?.edits ?? [])]);
parentPort?.postMessage(await answer());

/** What lives through histories is loaded after the hooks are in place, so that the edits are in it. */
async function answer(): Promise<unknown> {
  if ("tell" in work) {
    const { tellSeed } = await import("./report/tell-seed.ts");
    return await tellSeed(work.tell, work.mode);
  }
  if ("shows" in work) {
    const { countFailing } = await import("./known-defects/count-failing.ts");
    return await countFailing(work.shows);
  }
  const { runSeeds } = await import("./run-seeds.ts");
  return await runSeeds(work);
}
