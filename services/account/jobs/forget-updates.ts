import type { Deps } from "../deps.ts";
import { deleteMasterUpdates } from "../store/master-updates.ts";

/** Longer than the 30 days for which the edge may repeat a command. */
const KEPT_FOR_MS = 60 * 24 * 60 * 60 * 1_000;
const BATCH = 1_000;

/** Deletes old command ids. True when more may be left. */
export async function forgetUpdates({ pool, now }: Pick<Deps, "pool" | "now">): Promise<boolean> {
  const before = new Date(now().getTime() - KEPT_FOR_MS);
  return (await deleteMasterUpdates(pool, before, BATCH)) === BATCH;
}
