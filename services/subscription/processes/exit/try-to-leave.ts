import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { exitKey } from "../../domain/lifecycle.ts";
import { refuse } from "../../refusals.ts";
import { type Exit, findExit, markExitLockReleased, markLeaving, refuseTry } from "../../store/exits.ts";
import type { Subscription } from "../../store/subscriptions.ts";
import { type AccountLock, type AccountLockFacts, holdLock, releaseLock } from "../account-lock.ts";
import { accountBusy } from "../../domain/lock-refusals.ts";
import { reachDecision } from "../departure/reach-decision.ts";

export function lockOfExit(
  { id, investorLogin }: Pick<Subscription, "id" | "investorLogin">,
  number: number,
): AccountLock {
  return { login: investorLogin, lockOwner: `${exitKey(id)}:${number}` };
}

/** A try with its subscription. */
export type OneTry = { readonly subscription: Subscription; readonly exit: Exit };

/** Runs one recorded try: takes the account lock, then decides. Returns the exit that has left the pool. */
export async function tryToLeave(deps: Deps, { subscription, exit }: OneTry, context: CallContext): Promise<Exit> {
  let held: AccountLockFacts;
  try {
    held = await holdLock(deps, { ...lockOfExit(subscription, exit.try), acceptsArchived: true }, context);
    // False: the recovery job has aborted this try, because it took too long.
    if (!(await markLeaving(deps.pool, exit, held))) {
      throw accountBusy(
        "The unassign took longer than its caller waits, and was aborted. Nothing was executed. Send the request again in a second.",
      );
    }
  } catch (error) {
    const refusal =
      error instanceof Refusal
        ? error
        : accountBusy(
            "The Investor's account could not be locked in time, so the unassign was aborted. Nothing was executed. Send the request again in a second.",
          );
    await abandonTry(deps, { subscription, exit, refusal }, context);
    throw error;
  }
  const facts = { heldBalance: held.balance, heldLogNumber: held.logNumber };
  return await continueLeaving(deps, { subscription, exit: { ...exit, state: "LEAVING", ...facts } }, context);
}

/** Finishes a try in state LEAVING. Only a final refusal of the decision aborts it. */
export async function continueLeaving(deps: Deps, leaving: OneTry, context: CallContext): Promise<Exit> {
  const { refusal } = await decide(deps, leaving, context);
  if (refusal !== null) {
    const final = new Refusal(refusal);
    await abandonTry(deps, { ...leaving, refusal: final }, context);
    throw final;
  }
  const left = await findExit(deps.pool, leaving.subscription.id);
  if (left?.state === "LEFT") return left;
  const isRefused = left !== undefined && left.refusal !== null;
  throw isRefused
    ? new Refusal(left.refusal)
    : accountBusy(
        "The unassign was aborted before it was decided. Nothing was executed. Send the request again in a second.",
      );
}

/** Ends a try without effect, and releases its account lock. */
export async function abandonTry(
  deps: Deps,
  { subscription, exit, refusal }: OneTry & { readonly refusal: Refusal },
  context: CallContext,
): Promise<void> {
  const isOver = await refuseTry(deps.pool, exit, recordedAs(refusal));
  if (isOver) await releaseExitLock(deps, subscription, exit, context);
}

/** Releases the account lock of a try that has ended. */
export async function releaseExitLock(
  deps: Deps,
  subscription: Subscription,
  { try: number, lockOwner }: Pick<Exit, "try" | "lockOwner">,
  context: CallContext,
): Promise<void> {
  if (lockOwner === null) return;
  const isReleased = await releaseLock(deps, lockOfExit(subscription, number), context);
  if (isReleased) await markExitLockReleased(deps.pool, subscription.id, lockOwner);
  else deps.wakeSignals.exitSagas.notify();
}

/** Any other failure than a recorded refusal leaves the try open: the recovery job decides it again. */
async function decide(deps: Deps, { subscription, exit }: OneTry, context: CallContext) {
  const { subscriptionId, heldBalance, heldLogNumber } = exit;
  assert(heldBalance !== null && heldLogNumber !== null, "a try in state LEAVING has held the account lock");
  const key = exitKey(subscriptionId);
  const { investorLogin } = subscription;
  const held = { heldBalance, heldLogNumber };
  const own = { key, try: exit.try, investorLogin, kind: "EXIT", payoutKey: key } as const;
  const request = { ...own, requested: 0n, feeSuffix: `UA${subscriptionId}`, ...held };
  try {
    return await reachDecision(deps, request, context);
  } catch (error) {
    deps.wakeSignals.exitSagas.notify();
    deps.log.info("exit not decided, retry scheduled", { id: subscriptionId, login: investorLogin, error });
    throw refuse("outcome_unknown", "The decision is not known yet.", {
      outcome: "unknown",
      ...(context.commandId === "" ? {} : { operationId: context.commandId }),
    });
  }
}
