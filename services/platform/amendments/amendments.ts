import type { Deps } from "../deps.ts";
import { listToCompare } from "../store/amendments.ts";
import { compareAccount } from "./correct-log.ts";
export { correctLog, readCorrection, requireCorrection } from "./correct-log.ts";
export { DeletedDeals, readWholeLogin, ShownDeals } from "./deleted-deals.ts";

/** Few, because the run reads each of them alone. Further accounts follow in the next runs. */
const LOGINS_PER_RUN = 20;

/** Compares accounts whose history was changed with their logs, when their review has no difference yet, or another one by now. */
export async function compareChangedAccounts(deps: Deps): Promise<boolean> {
  for (const login of await listToCompare(deps.pool, LOGINS_PER_RUN)) {
    await compareAccount(deps, login).catch((error: unknown) => {
      deps.log.info("account with a changed history not compared, retry scheduled", { login, error });
    });
  }
  return false;
}
