import type { Deps } from "../deps.ts";
import { deleteMasterUpdates } from "../store/master-updates.ts";

/** The edge repeats a command for 30 days after it was first given. */
const KEPT_FOR_MS = 60 * 24 * 60 * 60 * 1_000;
const BATCH = 1_000;

/** True when there may be more. */
export async function forgetUpdates({ pool, now }: Pick<Deps, "pool" | "now">): Promise<boolean> {
  const before = new Date(now().getTime() - KEPT_FOR_MS);
  return (await deleteMasterUpdates(pool, before, BATCH)) === BATCH;
}
