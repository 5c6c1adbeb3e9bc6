import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import { later } from "#kernel/retry.ts";
import type { UnassignRequest, UnassignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { beginTry, type Exit, findExit, findExitOfCommand } from "../store/exits.ts";
import { recordedAs } from "../store/recorded-refusal.ts";
import { findLatestOfPair, type Subscription } from "../store/subscriptions.ts";
import { markUnassignmentEnded, recordUnassignment } from "../store/unassignments.ts";
import { finishExit } from "../processes/exit/finish-exit.ts";
import { accountBusy } from "../processes/account-lock.ts";
import { waitBudget, type WaitBudget } from "../processes/deadlines.ts";
import { lockOfExit, releaseExitLock, tryToLeave } from "../processes/exit/try-to-leave.ts";
import { isLogin, validate } from "../domain/validate.ts";

/** Commands on one Investor follow one another, and what is in the way may pass; so long is waited for both. */
const TURN_MS = 6_000;
const GRACE_MS = 1_000;
/** What may be otherwise a moment later. */
const PASSING = new Set(["account_busy", "allocation_in_progress"]);

/** Takes an Investor out of the pool. From the decision on the saga is finished, whatever it takes. */
export async function unassign(deps: Deps, request: UnassignRequest, context: CallContext): Promise<UnassignResponse> {
  validate(isLogin("master_login", request.masterLogin), isLogin("investor_login", request.investorLogin));
  const before = await failAsUnavailable(() => findExitOfCommand(deps.pool, context.commandId));
  if (before !== undefined) return await finishExit(deps, before, context);
  try {
    const answer = await leaveInTurn(deps, request, context);
    await recordEnd(deps, undefined, context);
    return answer;
  } catch (error) {
    if (error instanceof Refusal && error.outcome === "not_executed") await recordEnd(deps, error, context);
    throw error;
  }
}

async function leaveInTurn(deps: Deps, request: UnassignRequest, context: CallContext): Promise<UnassignResponse> {
  const turn = waitBudget(context, TURN_MS);
  for (;;) {
    const subscription = await failAsUnavailable(() => findActive(deps, request, context));
    const exit = await claimTry(deps, subscription, context);
    const left =
      exit === undefined ? await seeOther(deps, subscription, context) : await goOut(deps, exit, turn, context);
    if (left !== undefined) return await finishExit(deps, left, context);
    if (turn.isOver()) throw await inTheWay(deps, subscription, context);
    await turn.pause();
  }
}

/** What stands in the way may be a copy of this very command: then nobody can say that it was not executed. */
async function inTheWay(deps: Deps, { id }: Subscription, { commandId }: CallContext): Promise<Refusal> {
  const exit = await findExit(deps.pool, id);
  if (exit?.commandId !== commandId || commandId === "" || exit.state === "REFUSED") {
    return accountBusy("Another operation of this Investor is in progress. Retry shortly.");
  }
  return refuse("outcome_unknown", "The unassign is still in progress.", {
    outcome: "unknown",
    operationId: commandId,
  });
}

/** For whoever asks later what became of the command. Lost by a crash, it is told by the rows of its tries, if later. */
async function recordEnd(deps: Deps, refusal: Refusal | undefined, { commandId }: CallContext): Promise<void> {
  const end = { at: deps.now(), refusal: refusal && recordedAs(refusal) };
  await markUnassignmentEnded(deps.pool, commandId, end).catch((cause: unknown) => {
    deps.log.warn("the end of an unassign is not on record", { command_id: commandId, error: cause });
  });
}

async function findActive(deps: Deps, request: UnassignRequest, context: CallContext): Promise<Subscription> {
  const subscription = await findLatestOfPair(deps.pool, request);
  if (subscription === undefined) throw await refuseUnknownPair(deps, request, context);
  const exit = subscription.status === "ACTIVE" ? undefined : await findExit(deps.pool, subscription.id);
  const isOwn = exit?.commandId === context.commandId && context.commandId !== "";
  if (subscription.status === "PAUSED" && !isOwn) {
    throw refuse("exit_in_progress", `${pair(request)} is already ending (subscription id ${subscription.id}).`, {
      outcome: "not_executed",
    });
  }
  if (subscription.status === "CANCELLED" && !isOwn) {
    throw refuse("subscription_not_active", `${pair(request)} has ended (subscription id ${subscription.id}).`, {
      outcome: "not_executed",
    });
  }
  return subscription;
}

async function refuseUnknownPair(
  { accounts }: Deps,
  { masterLogin, investorLogin }: UnassignRequest,
  context: CallContext,
): Promise<Refusal> {
  await accounts.findMaster({ login: masterLogin }, queryContext(context));
  await accounts.findInvestor({ login: investorLogin }, queryContext(context));
  const message = `Investor ${investorLogin} was never assigned to Master ${masterLogin}.`;
  return refuse("subscription_not_found", message, { outcome: "not_executed" });
}

function pair({ masterLogin, investorLogin }: UnassignRequest): string {
  return `The subscription of Investor ${investorLogin} to Master ${masterLogin}`;
}

/** Begins the next try, on record before anybody is asked; undefined when another one stands in the way. */
async function claimTry(deps: Deps, subscription: Subscription, context: CallContext): Promise<Exit | undefined> {
  const { id } = subscription;
  const last = await findExit(deps.pool, id);
  const number = (last?.try ?? 0) + 1;
  const { lockOwner } = lockOfExit(subscription, number);
  const { commandId, requestId, deadline } = context;
  const deadlineAt = later(deadline, GRACE_MS);
  const fresh = { subscriptionId: id, commandId, requestId, try: number, lockOwner, deadlineAt };
  const isBegun = await inTransaction(deps.pool, async (tx) => {
    if (!(await beginTry(tx, fresh))) return false;
    await recordUnassignment(tx, { commandId, subscriptionId: id, at: deps.now(), deadlineAt });
    return true;
  });
  return isBegun ? await findExit(deps.pool, id) : undefined;
}

/** Somebody else's try: its account lock may only have to be let go, or it has led to the end that this command wants too. */
async function seeOther(deps: Deps, subscription: Subscription, context: CallContext): Promise<Exit | undefined> {
  const exit = await findExit(deps.pool, subscription.id);
  if (exit?.state === "REFUSED") await releaseExitLock(deps, subscription, exit, context);
  const isOwn = exit?.commandId === context.commandId && context.commandId !== "";
  return exit?.state === "LEFT" && isOwn ? exit : undefined;
}

/** The exit that has succeeded; undefined when what was in the way may have passed. */
async function goOut(deps: Deps, exit: Exit, turn: WaitBudget, context: CallContext): Promise<Exit | undefined> {
  try {
    return await tryToLeave(deps, exit, context);
  } catch (error) {
    const isPassing = error instanceof Refusal && PASSING.has(error.code);
    if (isPassing && !turn.isOver()) return undefined;
    throw error;
  }
}
