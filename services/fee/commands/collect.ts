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

/** Between two tries while another operation holds the account lock for a moment. */
const TRY_AGAIN_MS = 50;

type AccountLock = { readonly lockOwner: string; readonly floor: bigint; readonly hasTaken: boolean };

/**
 * Takes what a crystallisation named, one after the other, under the account lock of the caller. A saga goes on when a debit is
 * on the platform; its credit follows by itself. Whatever crashes, the same call finishes it. Of a stopped Master nothing
 * more is sent: the same call goes on when people have decided.
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

/** What was taken. What was not goes back to the pool before the caller hears of it. */
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

/** Until platform has an answer, or nobody waits for it any more. */
async function takeNow(deps: Deps, payment: DuePayment, accountLock: AccountLock, context: CallContext): Promise<void> {
  do {
    const { outcome, error } = await ask(deps, payment, accountLock, context);
    await recordOutcomes(deps, [{ payment, outcome }]);
    if (outcome.kind !== "open") return;
    if (error?.code === "lock_not_owned") {
      throw refuse("lock_not_owned", "The caller does not hold the lock of the Investor's account.");
    }
    if (error !== undefined && !outcome.isBusy) throw whyNot(error);
  } while (await mayLookAgain(context));
}

/** What was sent before the Master was stopped is written down. */
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

async function ask(
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

/** Waits a moment; false when there is no time left for another try. */
async function mayLookAgain(context: CallContext): Promise<boolean> {
  if (remainingMs(context) < REPLY_RESERVE_MS + TRY_AGAIN_MS || context.signal.aborted) return false;
  await sleep(TRY_AGAIN_MS);
  return true;
}

/** A call that got no answer may have moved money; one that platform refused instead of recording it surely has not. */
function whyNot({ outcome, status }: Refusal): Refusal {
  if (outcome !== "not_executed" && status !== "conflict" && status !== "not_found") return outcomeUnknown();
  return refuse("platform_unavailable", "The trading platform has not debited the fee yet.", { outcome: "unknown" });
}

function outcomeUnknown(): Refusal {
  return refuse("outcome_unknown", "It is not known yet whether a fee was debited.", { outcome: "unknown" });
}

async function getPayment({ pool }: Deps, id: bigint): Promise<PaymentState> {
  const payment = await findPayment(pool, id);
  assert(payment !== undefined, "what was crystallised has a payment");
  return payment;
}
