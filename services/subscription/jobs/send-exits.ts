import { CLAIM_MS, later } from "#kernel/retry.ts";
import { catchUp } from "../processes/filing/catch-up.ts";
import { jobContext } from "../processes/deadlines.ts";
import { sendExit } from "../processes/exit/send-exit.ts";
import type { Deps } from "../deps.ts";
import { claimExitTransfers, type ExitTransfer } from "../store/exit-transfers.ts";

const TRANSFERS_PER_ROUND = 8;

/** Sends exit transfers, and asks after those that have not arrived, until all of them have. */
export async function sendExits(deps: Deps): Promise<boolean> {
  const now = deps.now();
  const claimed = await claimExitTransfers(deps.pool, now, later(now, CLAIM_MS), TRANSFERS_PER_ROUND);
  await Promise.all(claimed.map((transfer) => sendExit(deps, transfer, jobContext())));
  await Promise.all([...new Set(claimed.map(({ masterLogin }) => masterLogin))].map((login) => look(deps, login)));
  return claimed.length === TRANSFERS_PER_ROUND;
}

/** The feed brings the arrival; should it be late, the log has it already. */
async function look(deps: Deps, login: ExitTransfer["masterLogin"]): Promise<void> {
  try {
    await catchUp(deps, { login }, jobContext());
  } catch (error) {
    deps.log.warn("a Master's log could not be filed", { login, error });
  }
}
