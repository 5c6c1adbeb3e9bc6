import type { Job } from "#kernel/job.ts";
import { runJob } from "#kernel/job.ts";
import type { Deps } from "../deps.ts";
import { askAgain } from "../protocol/past/ask-again.ts";
import { listUntiedLogins } from "../store/amendments.ts";

const LOOK_EVERY_MS = 60_000;
/** Each is read whole; who is behind them has its turn when some of these tie again. */
const LOGINS_PER_LOOK = 20;

/**
 * Asks people again about a changed past whose account does not tie. A deal may come back long after it was corrected, and
 * a balance may follow the history long after people have acknowledged that it had not.
 */
export function askAboutChangedPast(deps: Deps): Job {
  const work = async (): Promise<boolean> => {
    for (const login of await listUntiedLogins(deps.pool, LOGINS_PER_LOOK)) {
      await askAgain(deps, login).catch((error: unknown) => {
        deps.log.warn("an account that does not tie could not be looked at and is looked at again", { login, error });
      });
    }
    return false;
  };
  return runJob({ name: "ask about changed past", everyMs: LOOK_EVERY_MS, work, log: deps.log });
}
