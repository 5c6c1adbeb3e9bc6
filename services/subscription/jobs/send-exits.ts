import { tryToCatchUp } from "../processes/filing/catch-up.ts";
import { jobContext } from "../processes/deadlines.ts";
import { settleImportedExits } from "../processes/exit/settle-imported.ts";
import { sendExit } from "../processes/exit/send-exit.ts";
import type { Deps } from "../deps.ts";
import { exitTransferQueue } from "../store/exit-transfers.ts";

/** Transfers of one run; each is one call to platform, all at the same time. */
const TRANSFERS_PER_RUN = 8;

/** Sends due exit transfers, and reads the outcome of those that were sent, until each shows in the log of its Master. */
export async function sendExits(deps: Deps): Promise<boolean> {
  await settleImportedExits(deps);
  const claimed = await exitTransferQueue.claim(deps.pool, TRANSFERS_PER_RUN);
  await Promise.all(claimed.map((transfer) => sendExit(deps, transfer, jobContext())));
  // When the feed is late, the logs have the deals already.
  const masters = new Set(claimed.map(({ masterLogin }) => masterLogin));
  await Promise.all([...masters].map((login) => tryToCatchUp(deps, login, jobContext())));
  return claimed.length === TRANSFERS_PER_RUN;
}
