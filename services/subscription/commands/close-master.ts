import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, withReplyReserve } from "#kernel/contract/deadlines.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import type { CloseMasterRequest, CloseMasterResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { checkDeparture } from "../domain/departure-reasons.ts";
import { platformUnavailable } from "../domain/lock-refusals.ts";
import { safetyStop } from "../domain/safety-stop.ts";
import { isLogin, validate } from "../domain/validate.ts";
import { askTerms } from "../fees/ask-terms.ts";
import { retryOnContention, waitBudget } from "../processes/deadlines.ts";
import { refuse } from "../refusals.ts";
import { beginClosing, findClosing } from "../store/closings.ts";
import { findSafetyStop } from "../store/masters.ts";

/** Maximum wait for the row of the Master: another transaction on its pool may change thousands of rows. */
const LOCKS_MS = 5_000;

/**
 * Begins to close a Master: from the commit on no assignment begins, and the queue takes out every Investor. A repeated command, also of another
 * caller, changes nothing.
 */
export async function closeMaster(
  deps: Deps,
  request: CloseMasterRequest,
  context: CallContext,
): Promise<CloseMasterResponse> {
  const { masterLogin } = request;
  validate(isLogin("master_login", masterLogin));
  const known = await failAsUnavailable(() => findClosing(deps.pool, masterLogin));
  if (known !== undefined) return {};
  await checkClosable(deps, masterLogin, context);
  await retryOnContention(waitBudget(context, LOCKS_MS), () => beginClosing(deps.pool, masterLogin, deps.now()));
  deps.wakeSignals.queue.notify();
  return {};
}

/** The same conditions as for an unassign of each Investor, before anything is recorded. */
async function checkClosable(deps: Deps, login: string, context: CallContext): Promise<void> {
  const stop = await failAsUnavailable(() => findSafetyStop(deps.pool, login));
  if (stop !== undefined) throw safetyStop(login, stop);
  try {
    const { isStopped } = await askTerms(deps, { masterLogin: login, investorLogins: [] }, context);
    if (isStopped) throw safetyStop(login, "stopped");
  } catch (error) {
    if (error instanceof Refusal && error.code === "safety_stop") throw error;
    deps.log.info("terms of fees not known, closing refused", { login, error });
    const message =
      "The performance fees that are due first are not calculated, because the service for fees has not answered in time. Nothing was executed. Send the request again in a second.";
    throw refuse("service_unavailable", message, { outcome: "not_executed" });
  }
  checkDeparture({ master: { isComplete: true, openPositions: await countPositions(deps, login, context) } });
}

async function countPositions({ platform }: Deps, login: string, context: CallContext): Promise<number> {
  try {
    const { positions } = await platform.readAccount({ login }, withReplyReserve(context));
    return positions.length;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw platformUnavailable("The trading platform cannot be reached. Nothing was executed.");
  }
}
