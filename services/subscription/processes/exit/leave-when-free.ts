import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { UnassignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import { accountBusy } from "../../domain/lock-refusals.ts";
import type { Pair } from "../../domain/unassign-reasons.ts";
import { refuse } from "../../refusals.ts";
import { type Exit, findExit } from "../../store/exits.ts";
import type { Subscription } from "../../store/subscriptions.ts";
import { waitBudget, type WaitBudget } from "../deadlines.ts";
import { claimTry } from "./claim-try.ts";
import { findActive } from "./find-active.ts";
import { finishExit } from "./finish-exit.ts";
import { type OneTry, releaseExitLock, tryToLeave } from "./try-to-leave.ts";

/** How long a command waits for an earlier command on the same Investor and for a temporary refusal to pass, by default. */
const MAX_WAIT_MS = 6_000;
/** Codes of refusals that may not apply a moment later. */
const TEMPORARY_CODES = new Set(["account_busy", "allocation_in_progress"]);

/** Takes an Investor out of the pool, in as many tries as the time of the command permits. */
export async function leaveWhenFree(
  deps: Deps,
  request: Pair,
  context: CallContext,
  maxWaitMs = MAX_WAIT_MS,
): Promise<UnassignResponse> {
  const wait = waitBudget(context, maxWaitMs);
  for (;;) {
    const subscription = await failAsUnavailable(() => findActive(deps, request, context));
    const exit = await claimTry(deps, subscription, context);
    const left =
      exit === undefined
        ? await checkBlockingTry(deps, subscription, context)
        : await runTry(deps, { subscription, exit }, wait, context);
    if (left !== undefined) return await finishExit(deps, left, context);
    if (wait.isOver()) throw await blockedBy(deps, subscription, context);
    await wait.pause();
  }
}

/** The blocking try may belong to an earlier delivery of the same command: then its outcome is unknown, not "not executed". */
async function blockedBy(deps: Deps, { id }: Subscription, { commandId }: CallContext): Promise<Refusal> {
  const exit = await findExit(deps.pool, id);
  if (exit?.commandId !== commandId || commandId === "" || exit.state === "REFUSED") {
    return accountBusy(
      "Another unassign of this Investor is in progress, and this one waited for its end as long as it may. Nothing was executed. Send the request again in a second.",
    );
  }
  return refuse("outcome_unknown", "The unassign is still in progress.", {
    outcome: "unknown",
    operationId: commandId,
  });
}

/** Checks the try that blocks: a refused one may still hold the account lock; a successful one of this command is its outcome. */
async function checkBlockingTry(
  deps: Deps,
  subscription: Subscription,
  context: CallContext,
): Promise<Exit | undefined> {
  const exit = await findExit(deps.pool, subscription.id);
  if (exit?.state === "REFUSED") await releaseExitLock(deps, subscription, exit, context);
  const isOwn = exit?.commandId === context.commandId && context.commandId !== "";
  return exit?.state === "LEFT" && isOwn ? exit : undefined;
}

/** The exit that has succeeded; undefined after a temporary refusal, while there is time to retry. */
async function runTry(deps: Deps, begun: OneTry, wait: WaitBudget, context: CallContext): Promise<Exit | undefined> {
  try {
    return await tryToLeave(deps, begun, context);
  } catch (error) {
    const isTemporary = error instanceof Refusal && TEMPORARY_CODES.has(error.code);
    if (isTemporary && !wait.isOver()) return undefined;
    throw error;
  }
}
