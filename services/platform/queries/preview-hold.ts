import { refusalToProto } from "#kernel/contract/error.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import type { HoldResponse, PreviewHoldRequest, PreviewHoldResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { holdReasons } from "../domain/hold-reasons.ts";
import { executedBefore } from "../domain/lost-movement.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { heldFacts, type HoldQueues, intendedWithdrawal } from "../protocol/hold-queues.ts";
import { readSharedFacts } from "../protocol/history/read-facts.ts";
import { notManaged, refuse } from "../refusals.ts";
import { findLegBeforeLock } from "../store/account-locks.ts";
import { findAccount } from "../store/accounts.ts";

type PreviewDeps = Deps & { readonly holds: Pick<HoldQueues, "facts"> };

/** What Hold would answer now, without a request for it: it delays no leg, and waits for none. */
export async function previewHold(deps: PreviewDeps, request: PreviewHoldRequest): Promise<PreviewHoldResponse> {
  const { login } = request;
  const account = await findAccount(deps.pool, login);
  if (account === undefined) throw notManaged(login);
  if (account.role === "payment") throw refuse("validation_failed", "A payment account cannot be locked.");
  const withdrawal = intendedWithdrawal(request);
  // First, as for a lock: a leg that ends meanwhile is in the facts.
  const obstacle = await findLegBeforeLock(deps.pool, login);
  const facts = await readAgreeing(deps, login);
  const reasons = holdReasons({
    login,
    gate: deps.gate.read(),
    isStopped: account.isStopped,
    isArchived: account.isArchived && request.acceptsArchived !== true,
    lost: withdrawal && executedBefore(withdrawal, account.lost),
    hasOwner: account.accountLock !== undefined,
    obstacle,
    isReadable: facts !== undefined,
  });
  return { refusals: reasons.map(refusalToProto), facts };
}

/** Undefined while the platform and the log differ, or the platform cannot be read. */
async function readAgreeing(deps: PreviewDeps, login: string): Promise<HoldResponse | undefined> {
  try {
    const facts = await readSharedFacts(deps, deps.holds.facts, login);
    return facts.isComplete ? heldFacts(facts) : undefined;
  } catch (error) {
    const isNotShown = error instanceof Refusal && error.code === "platform_account_not_found";
    if (error instanceof Mt5Error || isNotShown) return undefined;
    throw error;
  }
}
