import { parentPort, workerData } from "node:worker_threads";
import type { Mode } from "./plan/plan.ts";
import { patchSources } from "./sabotage/patch-sources.ts";
import { SABOTAGES } from "./sabotage/sabotages.ts";

export type Work = {
  /** Which seeds: every `step`-th from `first` on. */
  readonly first: number;
  readonly step: number;
  readonly count: number;
  readonly mode: Mode | "both";
  readonly sabotage: string | undefined;
  readonly stopsAtViolation: boolean;
};

const work = workerData as Work;
const sabotage = SABOTAGES.find(({ name }) => name === work.sabotage);
if (sabotage !== undefined) patchSources(sabotage.edits);
// Loaded after the hooks are in place, so that the sabotage is in it.
const { runSeeds } = await import("./run-seeds.ts");
parentPort?.postMessage(await runSeeds(work));
