import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { isZero, negate } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { lockOwnerOf, payoutKey, withdrawalKey } from "../../domain/cashflow.ts";
import { outcomeUnknown, refusalOfTransfer, refusedUnsent } from "../../domain/transfer-outcome.ts";
import type { Saga, WithdrawalDecision } from "../../domain/withdrawal.ts";
import { markDoubt } from "../../store/cashflow-transitions.ts";
import { getSaga } from "../../store/withdrawals.ts";
import { finish, sendTransfer } from "../transfer.ts";
import { refuseSaga, releaseForGood } from "./end-saga.ts";

/**
 * Lets fee collect all due payments, then pays out what was decided, or nothing when it is 0.00. A debit may be in progress, so
 * no failure ends the saga but a refused payout: the recovery job continues it.
 */
export async function collectAndPayOut(deps: Deps, saga: Saga, context: CallContext): Promise<Saga> {
  const { decision } = saga.withdrawal;
  if (decision === undefined) {
    throw outcomeUnknown(saga.cashflow.operationId);
  }
  const isCollected = await collectFee(deps, saga, context);
  if (!isCollected) return await continueLater(deps, saga);
  failpoint("after_collection");
  return await payOut(deps, saga, decision, context);
}

/** False when fee has refused, or did not answer. */
async function collectFee(deps: Deps, { cashflow, withdrawal }: Saga, context: CallContext): Promise<boolean> {
  try {
    const request = { key: withdrawalKey(cashflow), lockOwner: lockOwnerOf(cashflow, withdrawal.try) };
    await deps.fees.collect(request, withReplyReserve(context));
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    const { operationId: operation_id, login } = cashflow;
    deps.log.info("fee collection failed, retry scheduled", { operation_id, login, error });
    return false;
  }
}

/** A refused collection may only mean that another process has moved the saga on; then the next turn continues from there. */
async function continueLater(deps: Deps, { cashflow }: Saga): Promise<Saga> {
  const saga = await getSaga(deps.pool, cashflow.id);
  if (saga.cashflow.state === "PAYING") throw outcomeUnknown(cashflow.operationId);
  return saga;
}

async function payOut(deps: Deps, saga: Saga, { effective }: WithdrawalDecision, context: CallContext): Promise<Saga> {
  const { cashflow } = saga;
  if (isZero(effective)) {
    await deps.queues.posting.add({ id: cashflow.id, dealId: undefined, at: deps.now(), isReleased: false });
    await releaseForGood(deps, saga, context);
    return posted(saga, undefined);
  }
  // It is due whatever the answer will be, so a replica that stops or an account in use does not make its outcome unknown.
  const outcome = await sendTransfer(deps, transferOf(saga, effective), context, isTransientFailure);
  switch (outcome.kind) {
    case "applied":
      failpoint("before_posted", "withdraw");
      // platform has released the account lock in the commit that recorded the payout.
      await finish(deps, cashflow, { dealId: outcome.dealId, isReleased: true });
      return posted(saga, outcome.dealId);
    case "refused":
      return await returnReserve(deps, saga, refusalOfTransfer(outcome), context);
    case "open":
      await markDoubt(deps.pool, cashflow.id, outcome.doubt);
      throw outcomeUnknown(cashflow.operationId);
    case "not_sent":
      // It was paid before the database was restored.
      if (outcome.refusal.code === "possible_duplicate") {
        return await returnReserve(deps, saga, refusedUnsent(outcome.refusal), context);
      }
      throw outcomeUnknown(cashflow.operationId);
  }
}

function posted({ cashflow, withdrawal }: Saga, dealId: bigint | undefined): Saga {
  return { cashflow: { ...cashflow, state: "POSTED", dealId }, withdrawal };
}

/**
 * Returns the reserve to the pool before the account lock is released. When that fails, the caller still receives the
 * refusal, and the row stays open for the recovery job.
 */
async function returnReserve(deps: Deps, saga: Saga, refusal: Refusal, context: CallContext): Promise<Saga> {
  try {
    await deps.subscriptions.returnReserve({ key: payoutKey(saga.cashflow) }, context);
  } catch (error) {
    deps.log.info("reserve not returned, retry scheduled", { operation_id: saga.cashflow.operationId, error });
    throw refusal;
  }
  return await refuseSaga(deps, saga, refusal, context);
}

function transferOf({ cashflow, withdrawal }: Saga, effective: WithdrawalDecision["effective"]): TransferRequest {
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
