import type { Deps } from "../deps.ts";
import { showUnshownAccounts } from "../metrics.ts";
import { countUnshown } from "../store/unshown-accounts.ts";

/** Updates the metric of accounts that are not shown. */
export async function watchUnshownAccounts({ pool }: Pick<Deps, "pool">): Promise<boolean> {
  showUnshownAccounts(await countUnshown(pool));
  return false;
}
