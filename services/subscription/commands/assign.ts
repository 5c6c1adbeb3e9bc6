import { labelErrors } from "#kernel/labels.ts";
import { remainingMs } from "#kernel/contract/context.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { usd } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import { later, RECOVERY_GRACE_MS } from "#kernel/retry.ts";
import type { Master } from "#proto/pamm/account/v1/account.ts";
import type { AssignRequest, AssignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { checkAssignment } from "../domain/decide-assignment.ts";
import { refuse } from "../refusals.ts";
import { requireWholeBooks } from "../processes/allocate/settle-books.ts";
import { findSafetyStop } from "../store/masters.ts";
import {
  findOpenSubscription,
  findSubscriptionOfCommand,
  getSubscription,
  hasFollowedBefore,
  setBaseline,
  type Subscription,
  tryInsertSubscription,
} from "../store/subscriptions.ts";
import { abandonAssignment, finishAssignment, lockOfAssignment } from "../processes/assign/finish-assignment.ts";
import { findArchivedMaster } from "../archived-master.ts";
import { holdLock } from "../processes/account-lock.ts";
import { accountBusy } from "../domain/lock-refusals.ts";
import { waitBudget, type WaitBudget } from "../processes/deadlines.ts";
import { subscriptionMessage } from "../messages/subscription.ts";
import { insertOperationLabels } from "../store/operations.ts";
import { isLogin, isRate, validate } from "../domain/validate.ts";
import { findAdmission, getAssignment, insertAssignment, recordDecision } from "../store/assignments.ts";

/** How long a command waits for an earlier command on the same Investor. */
const MAX_WAIT_MS = 5_000;
/** Codes of the refusals because of another subscription of the Investor. */
const BLOCKING_CODES = new Set(["already_subscribed", "exit_in_progress"]);

/** Subscribes an Investor to a Master. Once decided, the saga is retried until it is finished. */
export async function assign(deps: Deps, request: AssignRequest, context: CallContext): Promise<AssignResponse> {
  validate(
    isLogin("master_login", request.masterLogin),
    isLogin("investor_login", request.investorLogin),
    isRate("perf_fee.rate", request.feeRatePpm),
    ...labelErrors(request.labels),
  );
  await failAsUnavailable(() => insertOperationLabels(deps.pool, context.commandId, request.labels));
  const id = await begin(deps, request, context).catch((error: unknown) => outcomeOfRepeat(deps, error, context));
  return { subscription: subscriptionMessage(asCommitted(await getSubscription(deps.pool, id))) };
}

/** The answer shows what the command committed, without later changes. */
function asCommitted(subscription: Subscription): Subscription {
  return { ...subscription, status: "ACTIVE", endedAt: null };
}

/** The blocking subscription may belong to an earlier delivery of the same command that has succeeded. */
async function outcomeOfRepeat({ pool }: Deps, error: unknown, { commandId }: CallContext): Promise<bigint> {
  const isBlocked = error instanceof Refusal && BLOCKING_CODES.has(error.code);
  const own = isBlocked ? await findSubscriptionOfCommand(pool, commandId) : undefined;
  if (own === undefined || own.status === "ASSIGNING") throw error;
  return own.id;
}

/** Finds or begins the saga of this command, and returns the id of the subscription when the saga has succeeded. */
async function begin(deps: Deps, request: AssignRequest, context: CallContext): Promise<bigint> {
  const wait = waitBudget(context, MAX_WAIT_MS);
  for (;;) {
    const own = await failAsUnavailable(() => findSubscriptionOfCommand(deps.pool, context.commandId));
    if (own !== undefined) return await awaitOutcome(deps, own, wait);
    const { master, investor } = await failAsUnavailable(() => findAccounts(deps, request, context));
    await checkNotBlocked(deps, request, wait);
    checkAssignment({ admission: await failAsUnavailable(() => findAdmission(deps.pool, master)) });
    const id = await insertSaga(deps, { request, masterId: master.id, investorId: investor.id }, context);
    if (id === undefined) continue;
    await decide(deps, id, master, context);
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

/** Waits for the outcome of an earlier delivery of the same command, which may still be running. */
async function awaitOutcome({ pool }: Deps, { id }: Subscription, wait: WaitBudget): Promise<bigint> {
  for (;;) {
    const { status } = await getSubscription(pool, id);
    if (status === "ABORTED") {
      const { refusal } = await getAssignment(pool, id);
      throw refusal === null ? accountBusy("The assignment was aborted.") : new Refusal(refusal);
    }
    if (status !== "ASSIGNING") return id;
    if (wait.isOver()) throw refuse("outcome_unknown", "The assignment is still in progress.", { outcome: "unknown" });
    await wait.pause();
  }
}

async function checkNotBlocked(
  deps: Deps,
  { masterLogin, investorLogin }: AssignRequest,
  wait: WaitBudget,
): Promise<void> {
  for (;;) {
    const open = await findOpenSubscription(deps.pool, investorLogin);
    if (open === undefined) break;
    if (open.status !== "ASSIGNING" || wait.isOver()) checkAssignment({ open });
    await wait.pause();
  }
  await requireWholeBooks(deps);
  checkAssignment({ pool: { masterLogin, stop: await findSafetyStop(deps.pool, masterLogin) } });
}

type Saga = { readonly request: AssignRequest; readonly masterId: bigint; readonly investorId: bigint };

/** Undefined when another command began a saga for this Investor at the same moment. */
async function insertSaga(
  { pool, now }: Deps,
  { request, masterId, investorId }: Saga,
  context: CallContext,
): Promise<bigint | undefined> {
  const { commandId } = context;
  const { masterLogin, investorLogin, feeRatePpm, feeEnabled } = request;
  return await inTransaction(pool, async (tx) => {
    const fresh = { commandId, masterId, investorId, masterLogin, investorLogin, at: now() };
    const subscriptionId = await tryInsertSubscription(tx, fresh);
    if (subscriptionId === undefined) return undefined;
    const { lockOwner } = lockOfAssignment({ id: subscriptionId, investorLogin });
    const deadlineAt = later(context.deadline, RECOVERY_GRACE_MS);
    const recoverInMs = remainingMs(context) + RECOVERY_GRACE_MS;
    await insertAssignment(tx, { subscriptionId, feeRatePpm, feeEnabled, deadlineAt, lockOwner, recoverInMs });
    return subscriptionId;
  });
}

/** Reads the facts under the account lock, decides and records the decision; a failure aborts the saga. */
async function decide(deps: Deps, id: bigint, master: Master, context: CallContext): Promise<void> {
  const { pool, now, isSingleSubscription } = deps;
  const subscription = await getSubscription(pool, id);
  try {
    // The saga is recorded, and a closing counts the assignments that were recorded before it: one of the two sees the other.
    const accepting = { ...master, acceptingInvestors: true };
    checkAssignment({ admission: await failAsUnavailable(() => findAdmission(deps.pool, accepting)) });
    checkAssignment({ archived: await findArchivedMaster(deps, subscription.masterLogin, context) });
    const isRepeated = isSingleSubscription && (await hasFollowedBefore(pool, subscription.investorLogin));
    // From here on the Investor does not trade: what is read is what joins the pool. One that is refused keeps its right.
    const takeTrading = isRepeated ? undefined : { minBalance: master.minDeposit };
    const held = await holdLock(deps, { ...lockOfAssignment(subscription), takeTrading }, context);
    checkAssignment({
      account: {
        balance: usd(held.balance),
        openPositions: held.openPositions,
        minDeposit: moneyFromProto(master.minDeposit, "min_deposit"),
        hasFollowedBefore: isRepeated,
      },
    });
    const at = now();
    const isDecided = await inTransaction(pool, async (tx) => {
      if (!(await setBaseline(tx, id, { startedAt: at, entryId: held.logEntryId }))) return false;
      await recordDecision(tx, id, held, at);
      return true;
    });
    if (!isDecided) {
      throw accountBusy(
        "The assignment took longer than its caller waits, and was aborted. Nothing was executed. Send the request again in a second.",
      );
    }
  } catch (error) {
    const refusal =
      error instanceof Refusal
        ? error
        : accountBusy(
            "The assignment was aborted, because the Investor's account could not be read in time. Nothing was executed. Send the request again in a second.",
          );
    await abandonAssignment(deps, subscription, refusal, context);
    throw error;
  }
}
