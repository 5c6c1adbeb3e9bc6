import type { Deps } from "../deps.ts";
import { listUnreconciledLogins } from "../store/amendments.ts";
import { recheckAccount } from "./recheck-account.ts";
import { correctLog, requireCorrection, readCorrection } from "./correct-log.ts";
export { DeletedDeals, ShownDeals } from "./deleted-deals.ts";
export { readWholeLogin } from "./read-whole-login.ts";

/** Few, because the run reads the whole history of each. Further accounts follow when some of these reconcile again. */
const LOGINS_PER_RUN = 20;

/** The action `correct_log` of a review: an entry makes the log equal to what the platform shows now. */
export const logCorrection = { read: readCorrection, require: requireCorrection, carryOut: correctLog };

/**
 * Opens reviews again about amended deals of accounts that do not reconcile. A deal may reappear long after it was
 * corrected, and a balance may be adjusted to the history long after operators have acknowledged the difference.
 */
export async function recheckAmendedAccounts(deps: Deps): Promise<boolean> {
  for (const login of await listUnreconciledLogins(deps.pool, LOGINS_PER_RUN)) {
    await recheckAccount(deps, login).catch((error: unknown) => {
      deps.log.info("unreconciled account not examined, retry scheduled", { login, error });
    });
  }
  return false;
}
