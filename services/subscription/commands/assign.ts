import { labelErrors } from "#kernel/values/labels.ts";
import { remainingMs } from "#kernel/contract/context.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { usd } from "#kernel/values/money.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { later, RECOVERY_GRACE_MS } from "#kernel/jobs/retry.ts";
import type { Master } from "#proto/pamm/account/v1/account.ts";
import type { AssignRequest, AssignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { accountReasons, blockedBy, notAccepting } from "../domain/decide-assignment.ts";
import { refuse } from "../refusals.ts";
import { requireWholeBooks } from "../processes/allocate/settle-books.ts";
import { findSafetyStop } from "../store/masters.ts";
import {
  findOpenSubscription,
  findSubscriptionOfCommand,
  getSubscription,
  hasFollowedBefore,
  type Subscription,
} from "../store/subscriptions.ts";
import {
  abandonAssignment,
  type AssignmentSaga,
  finishAssignment,
  lockOfAssignment,
  tookTooLong,
} from "../processes/assign/finish-assignment.ts";
import { isMasterArchived } from "../archived-master.ts";
import { holdLock } from "../processes/account-lock.ts";
import { accountBusy, masterArchived } from "../domain/lock-refusals.ts";
import { safetyStop } from "../domain/safety-stop.ts";
import { waitBudget, type WaitBudget } from "../processes/deadlines.ts";
import { subscriptionMessage } from "../messages/subscription.ts";
import { insertOperationLabels } from "../store/operations.ts";
import { isLogin, isRate, validate } from "../domain/validate.ts";
import { findUnopenState, getAssignment, recordDecision, tryBeginAssignment } from "../store/assignments.ts";

/** How long a command waits for an earlier command on the same Investor. */
const MAX_WAIT_MS = 5_000;

/** Subscribes an Investor to a Master. Once decided, the saga is retried until it is finished. */
export async function assign(deps: Deps, request: AssignRequest, context: CallContext): Promise<AssignResponse> {
  validate(
    isLogin("master_login", request.masterLogin),
    isLogin("investor_login", request.investorLogin),
    isRate("perf_fee.rate", request.feeRatePpm),
    ...labelErrors(request.labels),
  );
  await failAsUnavailable(() => insertOperationLabels(deps.pool, context.commandId, request.labels));
  const id = await begin(deps, request, context);
  // What the command committed, without later changes.
  const committed = { ...(await getSubscription(deps.pool, id)), status: "ACTIVE", endedAt: null } as const;
  return { subscription: subscriptionMessage(committed) };
}

/** Finds or begins the saga of this command, and returns the id of the subscription when the saga has succeeded. */
async function begin(deps: Deps, request: AssignRequest, context: CallContext): Promise<bigint> {
  const wait = waitBudget(context, MAX_WAIT_MS);
  for (;;) {
    const own = await failAsUnavailable(() => findSubscriptionOfCommand(deps.pool, context.commandId));
    if (own !== undefined) return await awaitOutcome(deps, own, wait);
    const { master, investor } = await failAsUnavailable(() => findAccounts(deps, request, context));
    const blocked = await findBlocking(deps, request, wait);
    if (blocked !== undefined) {
      const isOwn = (await findSubscriptionOfCommand(deps.pool, context.commandId)) !== undefined;
      if (!isOwn) throw blocked;
      // An earlier delivery of the same command has begun it meanwhile.
      continue;
    }
    await checkNotStopped(deps, request);
    await checkOpen(deps, master);
    const id = await tryBeginAssignment(deps.pool, {
      ...request,
      masterId: master.id,
      investorId: investor.id,
      commandId: context.commandId,
      createdAt: deps.now(),
      deadlineAt: later(context.deadline, RECOVERY_GRACE_MS),
      recoverInMs: remainingMs(context) + RECOVERY_GRACE_MS,
    });
    // Another command has begun one for this Investor at the same moment.
    if (id === undefined) continue;
    await decide(deps, { id, investorLogin: request.investorLogin }, master, context);
    await finishAssignment(deps, id, context);
    return id;
  }
}

async function findAccounts({ accounts }: Deps, request: AssignRequest, context: CallContext) {
  // In sequence: with both unknown, the refusal must not depend on which reply arrives first.
  const master = await accounts.findMaster({ login: request.masterLogin }, queryContext(context));
  const investor = await accounts.findInvestor({ login: request.investorLogin }, queryContext(context));
  return { master, investor };
}

async function checkOpen({ pool }: Deps, master: Pick<Master, "login" | "acceptingInvestors">): Promise<void> {
  const state = await failAsUnavailable(() => findUnopenState(pool, master));
  if (state !== undefined) throw notAccepting(master.login, state);
}

/** Waits for the outcome of an earlier delivery of the same command, which may still be running. */
async function awaitOutcome({ pool }: Deps, { id }: Subscription, wait: WaitBudget): Promise<bigint> {
  for (;;) {
    const { status, refusal } = await getAssignment(pool, id);
    if (status === "ABORTED") {
      throw refusal === null ? accountBusy("The assignment was aborted.") : new Refusal(refusal);
    }
    if (status !== "ASSIGNING") return id;
    if (wait.isOver()) throw refuse("outcome_unknown", "The assignment is still in progress.", { outcome: "unknown" });
    await wait.pause();
  }
}

/** Why another subscription of the Investor is in the way; one that is being assigned may still be aborted. */
async function findBlocking(
  { pool }: Deps,
  { investorLogin }: AssignRequest,
  wait: WaitBudget,
): Promise<Refusal | undefined> {
  for (;;) {
    const open = await findOpenSubscription(pool, investorLogin);
    if (open === undefined) return undefined;
    const blocked = blockedBy(open);
    if (blocked !== undefined && (open.status !== "ASSIGNING" || wait.isOver())) return blocked;
    await wait.pause();
  }
}

async function checkNotStopped(deps: Deps, { masterLogin }: AssignRequest): Promise<void> {
  await requireWholeBooks(deps);
  const stop = await findSafetyStop(deps.pool, masterLogin);
  if (stop !== undefined) throw safetyStop(masterLogin, stop);
}

/** Reads the facts under the account lock, decides and records the decision; a failure aborts the saga. */
async function decide(deps: Deps, saga: AssignmentSaga, master: Master, context: CallContext): Promise<void> {
  const { pool, now, isSingleSubscription } = deps;
  try {
    // The saga is recorded, and a closing counts the assignments that were recorded before it: one of the two sees the other.
    await checkOpen(deps, { ...master, acceptingInvestors: true });
    if (await isMasterArchived(deps, master.login, context)) throw masterArchived(master.login);
    const isRepeated = isSingleSubscription && (await hasFollowedBefore(pool, saga.investorLogin));
    // From here on the Investor does not trade: what is read is what joins the pool. One that is refused keeps its right.
    const takeTrading = isRepeated ? undefined : { minBalance: master.minDeposit };
    const held = await holdLock(deps, { ...lockOfAssignment(saga), takeTrading }, context);
    const [reason] = accountReasons({
      balance: usd(held.balance),
      openPositions: held.openPositions,
      minDeposit: moneyFromProto(master.minDeposit, "min_deposit"),
      hasFollowedBefore: isRepeated,
    });
    if (reason !== undefined) throw reason;
    if (!(await recordDecision(pool, saga.id, held, now()))) throw tookTooLong();
  } catch (error) {
    const refusal =
      error instanceof Refusal
        ? error
        : accountBusy(
            "The assignment was aborted, because the Investor's account could not be read in time. Nothing was executed. Send the request again in a second.",
          );
    await abandonAssignment(deps, saga, refusal, context);
    throw error;
  }
}
