import { labelsFromProto } from "#kernel/contract/labels.ts";
import { labelErrors } from "#kernel/labels.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import type { UnassignRequest, UnassignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { type Exit, findExit, findExitOfCommand } from "../store/exits.ts";
import { findLatestOfPair, type Subscription } from "../store/subscriptions.ts";
import { markUnassignmentEnded } from "../store/unassignments.ts";
import { claimTry } from "../processes/exit/claim-try.ts";
import { finishExit } from "../processes/exit/finish-exit.ts";
import { accountBusy } from "../domain/lock-refusals.ts";
import { waitBudget, type WaitBudget } from "../processes/deadlines.ts";
import { type OneTry, releaseExitLock, tryToLeave } from "../processes/exit/try-to-leave.ts";
import { labelOperation } from "../processes/label-operation.ts";
import { neverAssigned, unassignReasons } from "../domain/unassign-reasons.ts";
import { isLogin, validate } from "../domain/validate.ts";

/** How long a command waits for an earlier command on the same Investor and for a temporary refusal to pass. */
const MAX_WAIT_MS = 6_000;
/** Codes of refusals that may not apply a moment later. */
const TEMPORARY_CODES = new Set(["account_busy", "allocation_in_progress"]);

/** Takes an Investor out of the pool. Once decided, the saga is retried until it is finished. */
export async function unassign(deps: Deps, request: UnassignRequest, context: CallContext): Promise<UnassignResponse> {
  validate(
    isLogin("master_login", request.masterLogin),
    isLogin("investor_login", request.investorLogin),
    ...labelErrors(labelsFromProto(request.labels)),
  );
  await labelOperation(deps, request.labels, context);
  const before = await failAsUnavailable(() => findExitOfCommand(deps.pool, context.commandId));
  if (before !== undefined) return await finishExit(deps, before, context);
  try {
    const answer = await leaveWhenFree(deps, request, context);
    await recordEnd(deps, undefined, context);
    return answer;
  } catch (error) {
    if (error instanceof Refusal && error.outcome === "not_executed") await recordEnd(deps, error, context);
    throw error;
  }
}

async function leaveWhenFree(deps: Deps, request: UnassignRequest, context: CallContext): Promise<UnassignResponse> {
  const wait = waitBudget(context, MAX_WAIT_MS);
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
    return accountBusy("Another operation of this Investor is in progress. Retry shortly.");
  }
  return refuse("outcome_unknown", "The unassign is still in progress.", {
    outcome: "unknown",
    operationId: commandId,
  });
}

/** Records the outcome of the command. When a crash loses it, the rows of the command's attempts show the same outcome. */
async function recordEnd(deps: Deps, refusal: Refusal | undefined, { commandId }: CallContext): Promise<void> {
  const end = { at: deps.now(), refusal: refusal && recordedAs(refusal) };
  await markUnassignmentEnded(deps.pool, commandId, end).catch((cause: unknown) => {
    deps.log.warn("unassign outcome not recorded, its attempts show it", { command_id: commandId, error: cause });
  });
}

async function findActive(deps: Deps, request: UnassignRequest, context: CallContext): Promise<Subscription> {
  const subscription = await findLatestOfPair(deps.pool, request);
  if (subscription === undefined) throw await refuseUnknownPair(deps, request, context);
  const exit = subscription.status === "ACTIVE" ? undefined : await findExit(deps.pool, subscription.id);
  const isOwn = exit?.commandId === context.commandId && context.commandId !== "";
  const [reason] = isOwn ? [] : unassignReasons(subscription);
  if (reason !== undefined) throw reason;
  return subscription;
}

async function refuseUnknownPair(
  { accounts }: Deps,
  { masterLogin, investorLogin }: UnassignRequest,
  context: CallContext,
): Promise<Refusal> {
  await accounts.findMaster({ login: masterLogin }, queryContext(context));
  await accounts.findInvestor({ login: investorLogin }, queryContext(context));
  return neverAssigned({ masterLogin, investorLogin });
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
