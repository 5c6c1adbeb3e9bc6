import type { Deps } from "../deps.ts";
import { askAgain } from "../protocol/past/ask-again.ts";
import { listUntiedLogins } from "../store/amendments.ts";

/** Each is read whole; who is behind them has its turn when some of these tie again. */
const LOGINS_PER_LOOK = 20;

/**
 * Asks people again about a changed past whose account does not tie. A deal may come back long after it was corrected, and
 * a balance may follow the history long after people have acknowledged that it had not.
 */
export async function askAboutChangedPast(deps: Deps): Promise<boolean> {
  for (const login of await listUntiedLogins(deps.pool, LOGINS_PER_LOOK)) {
    await askAgain(deps, login).catch((error: unknown) => {
      deps.log.warn("an account that does not tie could not be looked at and is looked at again", { login, error });
    });
  }
  return false;
}
