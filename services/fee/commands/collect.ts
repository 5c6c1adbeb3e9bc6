import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { childContext, remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext, REPLY_RESERVE_MS, withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { CollectRequest, CollectResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import type { PaymentOutcome } from "../domain/payment-outcome.ts";
import { refuse } from "../refusals.ts";
import { findCrystallisation, listCrystallisedItems, markCollected } from "../store/crystallisations.ts";
import { type DuePayment, findPayment, type PaymentState } from "../store/due-payments.ts";
import {
  lookUpPayment,
  outcomeOf,
  outcomeOfError,
  readFloors,
  transferOf,
} from "../processes/payment/payment-transfer.ts";
import { recordOutcomes } from "../processes/payment/record-outcomes.ts";
import { safetyStop } from "../domain/safety-stop.ts";

/** Pause between two tries while another operation holds the account lock. */
const RETRY_PAUSE_MS = 50;

type AccountLock = { readonly lockOwner: string; readonly floor: bigint; readonly hasTaken: boolean };

/**
 * Collects the payments of a crystallisation in sequence, under the account lock of the caller. A payment counts as collected
 * when its debit is on the platform; the job completes the credit. After a crash a repeated call continues. Nothing more is
 * sent for a stopped Master: after the manual review a repeated call continues.
 */
export async function collect(
  deps: Deps,
  { key, lockOwner }: CollectRequest,
  context: CallContext,
): Promise<CollectResponse> {
  const known = await findCrystallisation(deps.pool, key);
  if (known === undefined) throw refuse("crystallisation_not_found", "No crystallisation is recorded under this key.");
  if (known.collected !== undefined) return { collected: moneyToProto(usd(known.collected)) };
  const { investorLogin } = known;
  const items = await listCrystallisedItems(deps.pool, key);
  const floors = items.length === 0 ? undefined : await readFloors(deps, [investorLogin], queryContext(context));
  const floor = floors?.get(investorLogin) ?? 0n;
  let collected = 0n;
  for (const { paymentId } of items) {
    const accountLock = { lockOwner, floor, hasTaken: collected > 0n };
    collected += await collectOne(deps, paymentId, accountLock, context);
  }
  await markCollected(deps.pool, key, collected);
  return { collected: moneyToProto(usd(collected)) };
}

/** The collected amount in cents. The reserve of an uncollected payment is returned to the pool before the caller gets an answer. */
async function collectOne(deps: Deps, id: bigint, accountLock: AccountLock, context: CallContext): Promise<bigint> {
  const before = await getPayment(deps, id);
  const isOpen = before.status === "PENDING" || before.status === "EXECUTING";
  if (isOpen && !before.isDebited) {
    if (before.isStopped) await finishSent(deps, before, accountLock, context);
    else await takeNow(deps, before, accountLock, context);
  }
  const { status, isDebited, amount, key } = await getPayment(deps, id);
  switch (status) {
    case "EXECUTED":
      return amount;
    case "PENDING":
    case "EXECUTING":
      if (isDebited) return amount;
      throw outcomeUnknown();
    case "DEFERRED":
    case "REVERSED":
    case "SKIPPED":
      await deps.subscriptions.returnReserve({ key }, withReplyReserve(context));
      return 0n;
  }
}

/** Requests the transfer until its outcome is known or the wait budget of the caller is used up. */
async function takeNow(deps: Deps, payment: DuePayment, accountLock: AccountLock, context: CallContext): Promise<void> {
  do {
    const { outcome, error } = await sendTransfer(deps, payment, accountLock, context);
    await recordOutcomes(deps, [{ payment, outcome }]);
    if (outcome.kind !== "open") return;
    if (error?.code === "lock_not_owned") {
      throw refuse("lock_not_owned", "The caller does not hold the lock of the Investor's account.");
    }
    if (error !== undefined && !outcome.isBusy) throw refusalOf(error);
  } while (await waitForRetry(context));
}

/** Records the outcome of a payment that was sent before its Master was stopped. */
async function finishSent(
  deps: Deps,
  payment: DuePayment,
  { hasTaken }: AccountLock,
  context: CallContext,
): Promise<void> {
  const outcome = await lookUpPayment(deps, payment, childContext(withReplyReserve(context)));
  if (outcome === undefined) throw safetyStop(payment.masterLogin, "break", hasTaken ? "unknown" : "not_executed");
  await recordOutcomes(deps, [{ payment, outcome }]);
}

async function sendTransfer(
  deps: Deps,
  payment: DuePayment,
  accountLock: AccountLock,
  context: CallContext,
): Promise<{ outcome: PaymentOutcome; error?: Refusal }> {
  try {
    const result = await deps.platform.transfer(transferOf(payment, accountLock), withReplyReserve(context));
    return { outcome: outcomeOf(payment, result) };
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
  assert(payment !== undefined, "a crystallised item has a payment");
  return payment;
}
