import type { Deps } from "../deps.ts";
import { listUntiedLogins } from "../store/amendments.ts";
import { claimDealLooks } from "../store/deal-looks.ts";
import { askAgain } from "./ask-again.ts";
import { correctLog, requireCorrection, seeCorrection } from "./correct-log.ts";
import { DeletedDeals } from "./deleted-deals.ts";
import { verifyDeals } from "./verify-deals.ts";

/** Longer than a round takes; a process that dies with a claim delays its looks by this. */
const CLAIM_MS = 60_000;
/** Logins of one question are bounded by the length of a URL. */
const BATCH = 100;
/** Each is read whole; further accounts have their turn when some of these tie again. */
const LOGINS_PER_RUN = 20;

/** What two clients decide about an amended deal: the log gets an entry by which it says what the platform shows now. */
export const logCorrection = { look: seeCorrection, require: requireCorrection, carryOut: correctLog };

/** Memory of one reader of the history: which deals it has missed, until the platform confirms that they are gone. */
export function deletedDeals(): DeletedDeals {
  return new DeletedDeals();
}

/** Looks for the deals of applied operations again, because a server that restarts may have forgotten them. */
export async function verifyAppliedDeals(deps: Deps): Promise<boolean> {
  const due = await claimDealLooks(deps.pool, CLAIM_MS, BATCH);
  // Operations of one look were applied about the same time, so that one short piece of the history shows them all.
  for (const group of Map.groupBy(due, ({ looks }) => looks).values()) await verifyDeals(deps, group);
  return due.length === BATCH;
}

/**
 * Asks operators again about amended deals of an account that does not tie. A deal may come back long after it was corrected, and
 * a balance may follow the history long after operators have acknowledged that it had not.
 */
export async function askAboutAmendments(deps: Deps): Promise<boolean> {
  for (const login of await listUntiedLogins(deps.pool, LOGINS_PER_RUN)) {
    await askAgain(deps, login).catch((error: unknown) => {
      deps.log.warn("an account that does not tie could not be looked at and is looked at again", { login, error });
    });
  }
  return false;
}
