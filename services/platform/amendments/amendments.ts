import type { Deps } from "../deps.ts";
import type { SeenDeals } from "../reader/seen-deals.ts";
import { listUnreconciledLogins } from "../store/amendments.ts";
import { claimVerifications } from "../store/deal-verifications.ts";
import { MAX_PER_CALL } from "../mt5/fields.ts";
import { recheckAccount } from "./recheck-account.ts";
import { correctLog, requireCorrection, readCorrection } from "./correct-log.ts";
import { DeletedDeals } from "./deleted-deals.ts";
export { fileSlice } from "./file-slice.ts";
import { verifyDeals } from "./verify-deals.ts";

/** Longer than a run takes. After a crash, the verifications that the process has claimed are due again after this time. */
const CLAIM_MS = 60_000;
/** Few, because the run reads the whole history of each. Further accounts follow when some of these reconcile again. */
const LOGINS_PER_RUN = 20;

/** The action `correct_log` of a review: an entry makes the log equal to what the platform shows now. */
export const logCorrection = { read: readCorrection, require: requireCorrection, carryOut: correctLog };

/** The missing deals that one reader of the history remembers until the platform confirms that they were deleted. */
export function deletedDeals(seen: SeenDeals): DeletedDeals {
  return new DeletedDeals(seen);
}

/** Verifies the deals of applied legs, because a server that restarts may have lost them. True when more may be due. */
export async function verifyAppliedDeals(deps: Deps): Promise<boolean> {
  // The tickets of one run fit into one request to the platform.
  const due = await claimVerifications(deps.pool, CLAIM_MS, MAX_PER_CALL);
  if (due.length > 0) await verifyDeals(deps, due);
  return due.length === MAX_PER_CALL;
}

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
