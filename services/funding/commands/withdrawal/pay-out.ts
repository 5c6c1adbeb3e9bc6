import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { isZero, negate, type Money } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { lockOwnerOf, payoutKey, withdrawalKey } from "../../domain/cashflow.ts";
import { outcomeUnknown, refusalOfTransfer } from "../../domain/transfer-outcome.ts";
import { getCashflow, markDoubt, markPosted } from "../../store/cashflows.ts";
import { markPaying } from "../../store/withdrawals.ts";
import { finish } from "../finish.ts";
import { sendTransfer } from "../transfer.ts";
import { refuseSaga, releaseForGood, type Saga } from "./end-saga.ts";

/**
 * Lets everything be taken that was decided to be owed, before anything is paid out; also when nothing is left to pay. A
 * debit may be on its way from here on, so whatever goes wrong leaves the saga to be continued, and never ends it.
 */
export async function collectFee(deps: Deps, { cashflow, withdrawal }: Saga, context: CallContext): Promise<void> {
  try {
    const asked = { key: withdrawalKey(cashflow), lockOwner: lockOwnerOf(cashflow, withdrawal.try) };
    await deps.fees.collect(asked, withReplyReserve(context));
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    await continueLater(deps, { cashflow, withdrawal }, error);
    return;
  }
  await markPaying(deps.pool, cashflow.id);
}

/** Who finds the account lock gone may only be late: another process has brought the saga to its end meanwhile. */
async function continueLater(deps: Deps, { cashflow }: Saga, error: Refusal): Promise<void> {
  const { state, operationId } = await getCashflow(deps.pool, cashflow.operationId);
  if (state === "COLLECTING") {
    deps.log.warn("a fee is taken later", { operation_id: operationId, login: cashflow.login, error });
    throw outcomeUnknown(operationId);
  }
}

/** Pays what was decided, or nothing when nothing remained. */
export async function payOut(deps: Deps, saga: Saga, context: CallContext): Promise<void> {
  const { cashflow, withdrawal } = saga;
  if (withdrawal.decision === undefined) {
    throw outcomeUnknown(cashflow.operationId);
  }
  const { effective } = withdrawal.decision;
  if (isZero(effective)) {
    await markPosted(deps.pool, cashflow.id, { at: deps.now() });
    return await releaseForGood(deps, saga, context);
  }
  const outcome = await sendTransfer(deps, transferOf(saga, effective), context);
  switch (outcome.kind) {
    case "applied":
      failpoint("before_posted", "withdraw");
      await finish(deps, cashflow, outcome.dealId);
      return await releaseForGood(deps, saga, context);
    case "refused":
      return await giveBack(deps, saga, refusalOfTransfer(outcome), context);
    case "open":
      await markDoubt(deps.pool, cashflow.id, outcome.doubt);
      throw outcomeUnknown(cashflow.operationId);
    case "not_sent":
      throw outcomeUnknown(cashflow.operationId);
  }
}

/**
 * The reserve goes back to the pool before the account lock is let go. Where that fails, the caller still hears the truth, and the
 * row stays open for the settling job.
 */
async function giveBack(deps: Deps, saga: Saga, refusal: Refusal, context: CallContext): Promise<void> {
  try {
    await deps.subscriptions.returnReserve({ key: payoutKey(saga.cashflow) }, context);
  } catch (error) {
    deps.log.warn("a reserve is returned later", { operation_id: saga.cashflow.operationId, error });
    throw refusal;
  }
  await refuseSaga(deps, saga, refusal, context);
}

function transferOf({ cashflow, withdrawal }: Saga, effective: Money): TransferRequest {
  return {
    key: payoutKey(cashflow),
    lockOwner: lockOwnerOf(cashflow, withdrawal.try),
    legs: [{ login: cashflow.login, kind: MovementKind.WITHDRAWAL, amount: moneyToProto(negate(effective)) }],
    upTo: undefined,
    enqueue: false,
    comment: cashflow.comment,
    sendBefore: undefined,
  };
}
