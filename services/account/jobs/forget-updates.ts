import { DAY_MS } from "#kernel/duration.ts";
import type { Deps } from "../deps.ts";
import { deleteMasterUpdates } from "../store/master-updates.ts";

/** Longer than the 30 days for which the edge may repeat a command. */
const KEPT_FOR_MS = 60 * DAY_MS;
/** Keeps the transaction, and with it the locks, short. */
const BATCH = 1_000;

/** Deletes old command ids. True when more may be left. */
export async function forgetUpdates({ pool, now }: Pick<Deps, "pool" | "now">): Promise<boolean> {
  const before = new Date(now().getTime() - KEPT_FOR_MS);
  return (await deleteMasterUpdates(pool, before, BATCH)) === BATCH;
}
