import { parentPort, workerData } from "node:worker_threads";
import { patchSources } from "./sabotage/patch-sources.ts";
import { SABOTAGES } from "./sabotage/sabotages.ts";
import type { Work } from "./work.ts";

const work = workerData as Work;
const sabotage = SABOTAGES.find(({ name }) => name === work.sabotage);
if (sabotage !== undefined) patchSources(sabotage.edits);
// Loaded after the hooks are in place, so that the sabotage is in it.
const { runSeeds } = await import("./run-seeds.ts");
parentPort?.postMessage(await runSeeds(work));
