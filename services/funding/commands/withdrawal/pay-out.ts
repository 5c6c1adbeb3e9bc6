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
import { markPaying, markReleased } from "../../store/withdrawals.ts";
import { finish, sendTransfer } from "../transfer.ts";
import { refuseSaga, releaseForGood, type Saga } from "./end-saga.ts";

/**
 * Lets fee collect all due payments before the payout, also when nothing is left to pay out. From here on a debit may be in
 * progress, so a failure never ends the saga: the recovery job continues it.
 */
export async function collectFee(deps: Deps, { cashflow, withdrawal }: Saga, context: CallContext): Promise<void> {
  try {
    const request = { key: withdrawalKey(cashflow), lockOwner: lockOwnerOf(cashflow, withdrawal.try) };
    await deps.fees.collect(request, withReplyReserve(context));
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    await continueLater(deps, { cashflow, withdrawal }, error);
    return;
  }
  await markPaying(deps.pool, cashflow.id);
}

/** A refused collection may only mean that another process has moved the saga on; then the next turn reads its new state. */
async function continueLater(deps: Deps, { cashflow }: Saga, error: Refusal): Promise<void> {
  const { state, operationId } = await getCashflow(deps.pool, cashflow.operationId);
  if (state === "COLLECTING") {
    deps.log.info("fee collection failed, retry scheduled", {
      operation_id: operationId,
      login: cashflow.login,
      error,
    });
    throw outcomeUnknown(operationId);
  }
}

/** Pays out the decided amount, or nothing when it is 0.00. */
export async function payOut(deps: Deps, saga: Saga, context: CallContext): Promise<void> {
  const { cashflow, withdrawal } = saga;
  if (withdrawal.decision === undefined) {
    throw outcomeUnknown(cashflow.operationId);
  }
  const { effective } = withdrawal.decision;
  if (isZero(effective)) {
    await markPosted(deps.pool, [{ id: cashflow.id, dealId: undefined, at: deps.now() }]);
    return await releaseForGood(deps, saga, context);
  }
  const outcome = await sendTransfer(deps, transferOf(saga, effective), context);
  switch (outcome.kind) {
    case "applied":
      failpoint("before_posted", "withdraw");
      // platform has released the account lock in the commit that recorded the payout.
      await finish(deps, cashflow, outcome.dealId);
      return await markReleased(deps.pool, cashflow.id);
    case "refused":
      return await returnReserve(deps, saga, refusalOfTransfer(outcome), context);
    case "open":
      await markDoubt(deps.pool, cashflow.id, outcome.doubt);
      throw outcomeUnknown(cashflow.operationId);
    case "not_sent":
      throw outcomeUnknown(cashflow.operationId);
  }
}

/**
 * Returns the reserve to the pool before the account lock is released. When that fails, the caller still receives the
 * refusal, and the row stays open for the recovery job.
 */
async function returnReserve(deps: Deps, saga: Saga, refusal: Refusal, context: CallContext): Promise<void> {
  try {
    await deps.subscriptions.returnReserve({ key: payoutKey(saga.cashflow) }, context);
  } catch (error) {
    deps.log.info("reserve not returned, retry scheduled", { operation_id: saga.cashflow.operationId, error });
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
    releaseLock: true,
  };
}
