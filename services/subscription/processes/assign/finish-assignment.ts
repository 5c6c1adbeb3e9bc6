import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { type Refusal, recordedAs } from "#kernel/values/refusal.ts";
import type { Deps } from "../../deps.ts";
import { changeAccount, takeBaseline } from "../../domain/buckets.ts";
import { accountBusy } from "../../domain/lock-refusals.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { refuse } from "../../refusals.ts";
import { abortAssignment, type Assignment, getAssignment, markLockReleased } from "../../store/assignments.ts";
import { lockAccounts, lockPools, saveAccounts } from "../../store/books.ts";
import { insertFlows } from "../../store/flows.ts";
import { beginWeeks } from "../../store/masters.ts";
import { beginPair } from "../../store/pairs.ts";
import { insertHolding } from "../../store/holdings.ts";
import { moveSubscriptions, type Subscription } from "../../store/subscriptions.ts";
import { type AccountLock, releaseLock } from "../account-lock.ts";
import { retryOnContention, waitBudget } from "../deadlines.ts";
import { publishFollowing } from "../../messages/capital-events.ts";

/** Maximum wait for locks: another transaction on the pool of the Master may change thousands of rows. */
const LOCKS_MS = 5_000;

export type AssignmentSaga = Pick<Subscription, "id" | "investorLogin">;

export function lockOfAssignment({ id, investorLogin }: AssignmentSaga): AccountLock {
  return { login: investorLogin, lockOwner: `subscription:assign:${id}:1` };
}

export function tookTooLong(): Refusal {
  return accountBusy(
    "The assignment took longer than its caller waits, and was aborted. Nothing was executed. Send the request again in a second.",
  );
}

/**
 * Finishes a decided assignment: configures the fee first, so that no result can arrive without a rate, then makes the
 * subscription ACTIVE in one commit. Safe to repeat until it succeeds.
 */
export async function finishAssignment(deps: Deps, id: bigint, context: CallContext): Promise<void> {
  failpoint("after_assignment");
  const assignment = await getAssignment(deps.pool, id);
  try {
    if (assignment.status === "ASSIGNING") {
      await configureFee(deps, assignment, context);
      await retryOnContention(waitBudget(context, LOCKS_MS), () =>
        inTransaction(deps.pool, (tx) => begin(tx, deps, assignment)),
      );
    }
  } catch (error) {
    deps.wakeSignals.assignmentSagas.notify();
    deps.log.info("assignment not finished, retry scheduled", { id, login: assignment.investorLogin, error });
    throw refuse("outcome_unknown", "The assignment is decided and still being completed.", {
      outcome: "unknown",
      ...(context.commandId === "" ? {} : { operationId: context.commandId }),
    });
  }
  await releaseAssignmentLock(deps, assignment, context);
}

/** Aborts an undecided assignment and releases its account lock. No effect on one that was decided in the meantime. */
export async function abandonAssignment(
  deps: Deps,
  saga: AssignmentSaga,
  refusal: Refusal,
  context: CallContext,
): Promise<void> {
  if (!(await abortAssignment(deps.pool, saga.id, recordedAs(refusal)))) return;
  await releaseAssignmentLock(deps, saga, context);
}

/** Releases the account lock of a saga that has ended. */
export async function releaseAssignmentLock(deps: Deps, saga: AssignmentSaga, context: CallContext): Promise<void> {
  const isReleased = await releaseLock(deps, lockOfAssignment(saga), context);
  if (isReleased) await markLockReleased(deps.pool, saga.id);
  else deps.wakeSignals.assignmentSagas.notify();
}

async function configureFee({ fees }: Deps, assignment: Assignment, context: CallContext): Promise<void> {
  const { id, investorId, investorLogin, startedAt, feeRatePpm: ratePpm, feeEnabled: enabled } = assignment;
  assert(startedAt !== null, "only a decided assignment is finished");
  const key = `subscription:${id}`;
  await fees.configure(
    { key, investorId, investorLogin, ratePpm, enabled, effectiveSince: startedAt },
    withReplyReserve(context),
  );
}

/** ASSIGNING -> ACTIVE: the held balance joins the pool under the account row lock that filing takes too. */
async function begin(
  tx: Transaction,
  { now, wakeSignals, week }: Deps,
  { id, masterLogin, investorLogin, heldBalance }: Assignment,
): Promise<void> {
  assert(heldBalance !== null, "a decided assignment has its balance");
  // The members of a pool change only under the lock of the Master: allocations and weeks read them.
  await lockPools(tx, [masterLogin]);
  const [account] = await lockAccounts(tx, [investorLogin]);
  assert(account !== undefined);
  // Another replica has finished the assignment.
  if (!(await moveSubscriptions(tx, [id], { from: "ASSIGNING", to: "ACTIVE" }))) return;
  publishFollowing(tx, { investorLogin, masterLogin });
  await beginWeeks(tx, masterLogin, lastCutOff(week, now()));
  afterCommit(tx, wakeSignals.weeks.notify);
  const { account: onAccount, inbound } = takeBaseline(account.buckets, heldBalance);
  await saveAccounts(tx, [{ ...account, buckets: changeAccount(account.buckets, onAccount), pooledIn: id }]);
  await beginPair(tx, investorLogin, masterLogin);
  await insertHolding(tx, { subscriptionId: id, masterLogin, investorLogin, inbound });
  if (inbound === 0n) return;
  await insertFlows(tx, [{ subscriptionId: id, amount: inbound }], now());
  afterCommit(tx, wakeSignals.mirrors.notify);
}
