import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { exitKey } from "../../domain/lifecycle.ts";
import { refuse } from "../../refusals.ts";
import { type Exit, findExit, markExitLockReleased, markLeaving, refuseTry } from "../../store/exits.ts";
import { fromRecord, recordedAs } from "../../store/recorded-refusal.ts";
import { getSubscription, type Subscription } from "../../store/subscriptions.ts";
import { accountBusy, holdLock, type AccountLock, releaseLock } from "../account-lock.ts";
import { reachDecision } from "../leave/reach-decision.ts";

export function lockOfExit(
  { id, investorLogin }: Pick<Subscription, "id" | "investorLogin">,
  number: number,
): AccountLock {
  return { login: investorLogin, lockOwner: `${exitKey(id)}:${number}` };
}

/** One try, from its recorded beginning: the account lock, then the decision. Answers the exit that has left the pool. */
export async function tryToLeave(deps: Deps, exit: Exit, context: CallContext): Promise<Exit> {
  const subscription = await getSubscription(deps.pool, exit.subscriptionId);
  try {
    const held = await holdLock(deps, lockOfExit(subscription, exit.try), context);
    // False: the settling job has given this try up, because it took too long.
    if (!(await markLeaving(deps.pool, exit, held))) {
      throw accountBusy("The operation took too long and was aborted. Retry shortly.");
    }
  } catch (error) {
    const refusal = error instanceof Refusal ? error : accountBusy("The account could not be locked. Retry shortly.");
    await giveUp(deps, { subscription, exit: { ...exit, state: "ASKING" }, refusal }, context);
    throw error;
  }
  return await continueLeaving(deps, exit.subscriptionId, context);
}

/** Leads a try that says LEAVING to its end. Only what Leave has refused for good is refused here. */
export async function continueLeaving(deps: Deps, subscriptionId: bigint, context: CallContext): Promise<Exit> {
  const subscription = await getSubscription(deps.pool, subscriptionId);
  const exit = await getExit(deps, subscriptionId);
  if (exit.state === "LEAVING") {
    const { refusal } = await decide(deps, { subscription, exit }, context);
    if (refusal !== null) {
      const final = fromRecord(refusal);
      await giveUp(deps, { subscription, exit, refusal: final }, context);
      throw final;
    }
  }
  const left = await getExit(deps, subscriptionId);
  if (left.state === "LEFT") return left;
  throw left.refusal === null ? accountBusy("The operation was aborted. Retry shortly.") : fromRecord(left.refusal);
}

/** Ends a try without effect, and lets its account lock go. */
export async function giveUp(
  deps: Deps,
  {
    subscription,
    exit,
    refusal,
  }: { readonly subscription: Subscription; readonly exit: Exit; readonly refusal: Refusal },
  context: CallContext,
): Promise<void> {
  const isOver = await refuseTry(deps.pool, exit, recordedAs(refusal));
  if (isOver) await letGoOfExit(deps, subscription, exit, context);
}

/** Of a try that has ended. */
export async function letGoOfExit(
  deps: Deps,
  subscription: Subscription,
  { try: number, lockOwner }: Pick<Exit, "try" | "lockOwner">,
  context: CallContext,
): Promise<void> {
  if (lockOwner === null) return;
  const isReleased = await releaseLock(deps, lockOfExit(subscription, number), context);
  if (isReleased) await markExitLockReleased(deps.pool, subscription.id, lockOwner);
}

/** Anything but a decision or a final refusal leaves the try as it is: the settling job asks again. */
async function decide(
  deps: Deps,
  { subscription, exit }: { readonly subscription: Subscription; readonly exit: Exit },
  context: CallContext,
) {
  const { subscriptionId, heldBalance, heldLogNumber } = exit;
  assert(heldBalance !== null && heldLogNumber !== null, "who is leaving was held");
  const key = exitKey(subscriptionId);
  const { investorLogin } = subscription;
  const held = { heldBalance, heldLogNumber };
  const own = { key, try: exit.try, investorLogin, kind: "EXIT", payoutKey: key } as const;
  const asked = { ...own, requested: 0n, feeSuffix: `UA${subscriptionId}`, ...held };
  try {
    return await reachDecision(deps, asked, context);
  } catch (error) {
    deps.log.error("an exit is decided later", { id: subscriptionId, login: investorLogin, error });
    throw refuse("outcome_unknown", "The decision is not known yet.", {
      outcome: "unknown",
      ...(context.commandId === "" ? {} : { operationId: context.commandId }),
    });
  }
}

async function getExit({ pool }: Deps, subscriptionId: bigint): Promise<Exit> {
  const exit = await findExit(pool, subscriptionId);
  assert(exit !== undefined, "the saga was recorded before it went on");
  return exit;
}
