import type { Deps } from "../deps.ts";
import { jobContext } from "../processes/deadlines.ts";
import { endArchived, listArchivedToAsk, waitForArchived } from "../store/market-waits.ts";

/** Masters of one request. */
const BATCH = 100;

/** Asks platform whether it is shown archived accounts of Masters again, whose inflows are mirrored then. */
export async function findReturnedMasters({ pool, platform, log, wakeSignals }: Deps): Promise<boolean> {
  const logins = await listArchivedToAsk(pool, BATCH);
  if (logins.length === 0) return false;
  // A platform that does not answer is asked again after the same pause.
  await waitForArchived(pool, logins);
  const positions = logins.map((login) => ({ login, number: 0n }));
  const { balances } = await platform.readLogBalances({ positions }, jobContext());
  for (const { login, archived } of balances) {
    if (archived || !(await endArchived(pool, login))) continue;
    log.info("account of Master is shown again, its inflows are mirrored", { login });
    wakeSignals.mirrors.notify();
  }
  return logins.length === BATCH;
}
