import { eventually } from "../../journey/support/client.ts";
import { reportedBalance } from "../contest/platform-books.ts";
import { openDatabase } from "../system/database.ts";
import { startSystem, type System } from "../system/start-system.ts";
import { groupsOf, writeJournal } from "./journal.ts";
import { analyze, forgetSearches, loadStep } from "./load.ts";
import { FULL, type LargePool, loginOf, QUICK, type Step, stepsOf } from "./sizes.ts";

/** A system whose books grow by steps; workloads that need a large one share it. */
export type LargeSystem = AsyncDisposable & {
  readonly system: System;
  readonly steps: readonly Step[];
  /** Loads the steps up to this one, of 1, 2, 3 ..., if they are not loaded yet; all by default. */
  readonly load: (step?: number) => Promise<void>;
  /** The pools of a size, of all steps. */
  readonly pools: (size: LargePool["size"]) => readonly LargePool[];
};

/** The platform service loads a million accounts when it starts. */
const STARTS_WITHIN_MS = 120_000;

export async function startLargeSystem({ isQuick }: { readonly isQuick: boolean }): Promise<LargeSystem> {
  const steps = stepsOf(isQuick ? QUICK : FULL);
  const settings = { SIM_GROUPS: groupsOf(steps).join(",") };
  const system = await startSystem(settings, (stateDir) => writeJournal(stateDir, steps));
  let loaded = 0;
  return {
    system,
    steps,
    async load(to = steps.length) {
      const due = steps.slice(loaded, to);
      if (due.length === 0) return;
      await using database = await openDatabase(system);
      // Its checks would examine at once all that the load writes, as if the service had written it.
      await system.whileStopped("subscription", async () => {
        for (const step of due) await loadStep(database.client, step);
        loaded = to;
        await analyze(database.client);
        await forgetSearches(database.client);
      });
      await restartPlatform(system);
    },
    pools: (size) => steps.flatMap(({ pools }) => pools.filter((pool) => pool.size === size)),
    [Symbol.asyncDispose]: () => system[Symbol.asyncDispose](),
  };
}

/** It reads the managed accounts at its start. The launcher starts it again. */
async function restartPlatform(system: System): Promise<void> {
  const before = system.processes().get("platform");
  system.signal("platform", "SIGTERM");
  await eventually(async () => {
    const pid = system.processes().get("platform");
    if (pid === undefined || pid === before) throw new Error("platform is not started again");
    // The other services have reconnected once a balance is read.
    await reportedBalance(system.client, loginOf("investor", 1));
  }, STARTS_WITHIN_MS);
}
