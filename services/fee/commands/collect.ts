import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { childContext, remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { REPLY_RESERVE_MS, withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { CollectRequest, CollectResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { ACCOUNT_ARCHIVED, COLLECTED_BEFORE, isOpen, type PaymentOutcome } from "../domain/payment-outcome.ts";
import { refuse } from "../refusals.ts";
import { type DuePayment, findPayment, leaveToJob, type PaymentState } from "../store/due-payments.ts";
import { recordOutcomes } from "../processes/payment/record-outcomes.ts";
import { takeOver, unclaimedOf } from "../processes/payment/take-over-imported.ts";
import { safetyStop } from "../domain/safety-stop.ts";
import { recordForKey } from "./record-fees.ts";
import {
  type FeeFloor,
  lookUpPayments,
  outcomeOf,
  outcomeOfError,
  transferOf,
} from "../processes/payment/payment-transfer.ts";

/** Pause between two tries while another operation holds the account lock. */
const RETRY_PAUSE_MS = 50;

type AccountLock = { readonly lockOwner: string; readonly floor: FeeFloor };

/**
 * Collects the payments that are recorded under a key in sequence, under the account lock of the caller; the decision is recorded first, when the
 * caller has it. A payment counts as collected when its debit is on the platform: the job settles it, with its credit. After a crash a repeated
 * call continues. Nothing more is sent for a stopped Master: after the manual review a repeated call continues.
 */
export async function collect(deps: Deps, request: CollectRequest, context: CallContext): Promise<CollectResponse> {
  const { key, lockOwner, decision, filedNumber } = request;
  const own = decision && (await recordForKey(deps, decision, context));
  // Without a decision nothing was due: its caller has it recorded before, or here.
  const items = (own?.recorded ?? (await deps.queues.collections(key)))?.items ?? [];
  const accountLock = { lockOwner, floor: { minor: moneyFromProto(request.floor, "floor").minor, filedNumber } };
  const uncollectedKeys: string[] = [];
  for (const [index, { payment }] of items.entries()) {
    const current = index === 0 ? payment : await getPayment(deps, payment.id);
    if (!(await collectOne(deps, current, accountLock, context))) uncollectedKeys.push(payment.key);
  }
  return { recorded: own?.response, uncollectedKeys };
}

/** False when nothing is debited under the key of the payment, and nothing will be. */
async function collectOne(
  deps: Deps,
  before: PaymentState,
  accountLock: AccountLock,
  context: CallContext,
): Promise<boolean> {
  const payment = await finish(deps, before, accountLock, context);
  // It stays reserved, and nothing else waits for it.
  if (payment === "left") return true;
  const { status, isDebited, amount } = payment;
  switch (status) {
    case "EXECUTED":
      // An imported fee may have paid all of it.
      return amount > 0n;
    case "REVERSED":
      // It was debited, and the log of the account shows its reversal.
      return true;
    case "PENDING":
    case "EXECUTING":
      if (isDebited) return true;
      throw outcomeUnknown();
    case "DEFERRED":
    case "SKIPPED":
      return false;
  }
}

/** "left": the payment account is archived, so the job collects the payment when there is one again. */
type Finished = PaymentState | "left";

/** The payment after its debit, or its end, is recorded. */
async function finish(
  deps: Deps,
  payment: PaymentState,
  accountLock: AccountLock,
  context: CallContext,
): Promise<Finished> {
  if (!isOpen(payment) || payment.isDebited) return payment;
  return payment.isStopped
    ? await finishSent(deps, payment, context)
    : await takeNow(deps, payment, accountLock, context);
}

/**
 * Requests the transfer until its outcome is known or the wait budget of the caller is used up. A payment that waits for an imported
 * fee is requested after the job has settled that one, less what it had paid.
 */
async function takeNow(
  deps: Deps,
  before: PaymentState,
  accountLock: AccountLock,
  context: CallContext,
): Promise<Finished> {
  let payment = before;
  for (;;) {
    while (payment.isWaiting) {
      if (!(await waitForRetry(context))) return payment;
      payment = await getPayment(deps, payment.id);
    }
    const { outcome, error } = await sendTransfer(deps, payment, accountLock, context);
    const recorded = await record(deps, payment, outcome);
    if (outcome.kind !== "open") return recorded;
    if (error?.code === ACCOUNT_ARCHIVED) {
      await leaveToJob(deps.pool, payment.id);
      return "left";
    }
    const unclaimed = error && unclaimedOf(error);
    if (unclaimed !== undefined) await takeOver(deps, payment, unclaimed, withReplyReserve(context));
    if (error?.code === "lock_not_owned") {
      // It was left to the job, and its caller has completed what is no fee, and released the lock.
      if (recorded.isWeekly) return "left";
      throw refuse("lock_not_owned", "The caller does not hold the lock of the Investor's account.");
    }
    if (error !== undefined && !outcome.isBusy) throw refusalOf(error);
    if (!(await waitForRetry(context))) return recorded;
    if (unclaimed !== undefined) payment = await getPayment(deps, payment.id);
  }
}

/** Records the outcome of a payment that was sent before its Master was stopped. */
async function finishSent(deps: Deps, payment: PaymentState, context: CallContext): Promise<PaymentState> {
  const [outcome] = await lookUpPayments(deps, [payment], childContext(withReplyReserve(context)));
  if (outcome === undefined) throw safetyStop(payment.masterLogin, "unknown");
  return await record(deps, payment, outcome);
}

/** The payment as it is recorded: read again, unless this call has recorded its debit or its end. */
async function record(deps: Deps, payment: PaymentState, outcome: PaymentOutcome): Promise<PaymentState> {
  const settled = await recordOutcomes(deps, [{ payment, outcome }]);
  if (outcome.kind === "debited") return { ...payment, isDebited: true };
  if (!settled.has(payment.id)) return await getPayment(deps, payment.id);
  if (outcome.kind === "paid") return { ...payment, status: "EXECUTED", amount: outcome.amount };
  return outcome.kind === "unpaid" ? { ...payment, status: outcome.status } : payment;
}

async function sendTransfer(
  deps: Deps,
  payment: DuePayment,
  accountLock: AccountLock,
  context: CallContext,
): Promise<{ outcome: PaymentOutcome; error?: Refusal }> {
  if (payment.due === 0n) return { outcome: COLLECTED_BEFORE };
  try {
    const result = await deps.platform.transfer(transferOf(payment, accountLock), withReplyReserve(context));
    return { outcome: outcomeOf(deps, payment, result) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { outcome: outcomeOfError(error), error };
  }
}

/** Pauses before the next try; false when the wait budget is too short for one. */
async function waitForRetry(context: CallContext): Promise<boolean> {
  if (remainingMs(context) < REPLY_RESERVE_MS + RETRY_PAUSE_MS || context.signal.aborted) return false;
  await sleep(RETRY_PAUSE_MS);
  return true;
}

/** A call without an answer may have moved money. A call that platform refused without recording it has moved none. */
function refusalOf({ outcome, status }: Refusal): Refusal {
  if (outcome !== "not_executed" && status !== "conflict" && status !== "not_found") return outcomeUnknown();
  return refuse("platform_unavailable", "The trading platform has not debited the fee yet.", { outcome: "unknown" });
}

function outcomeUnknown(): Refusal {
  return refuse("outcome_unknown", "It is not known yet whether a fee was debited.", { outcome: "unknown" });
}

async function getPayment({ pool }: Deps, id: bigint): Promise<PaymentState> {
  const payment = await findPayment(pool, id);
  assert(payment !== undefined, "an item has a payment");
  return payment;
}
