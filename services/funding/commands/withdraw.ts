import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { labelsFromProto } from "#kernel/contract/labels.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { waitsForMaster } from "#kernel/queue-until-flat.ts";
import { type Refusal, restated } from "#kernel/refusal.ts";
import { later } from "#kernel/retry.ts";
import type { WithdrawRequest, WithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { checkMovement } from "../domain/amount.ts";
import { outcomeUnknown } from "../domain/transfer-outcome.ts";
import { type Cashflow, isQueued, wasQueued } from "../domain/cashflow.ts";
import { begunSaga, type Saga, type WithdrawalDecision } from "../domain/withdrawal.ts";
import { getSaga } from "../store/withdrawals.ts";
import { duplicateRuleOf } from "../domain/duplicate.ts";
import { clientKeyOf } from "./record-cashflows.ts";
import { record } from "./record.ts";
import { decideInPool } from "./withdrawal/decide-in-pool.ts";
import { acquireLock } from "./withdrawal/acquire-lock.ts";
import { collectAndPayOut } from "./withdrawal/pay-out.ts";

/** Pays out the requested amount, or what is available of it, once per command id. */
export async function withdraw(deps: Deps, request: WithdrawRequest, context: CallContext): Promise<WithdrawResponse> {
  const saga = await failAsUnavailable(() => findOrRecord(deps, request, context));
  const { operationId, amount, possibleDuplicateOf } = saga.cashflow;
  const settled = isQueued(saga.cashflow) ? { waiting: saga.cashflow } : await settleWithdrawal(deps, saga, context);
  if ("waiting" in settled) return queuedAnswer(settled.waiting, request);
  const { decision, dealId } = settled;
  return {
    operationId,
    requestedAmount: moneyToProto(amount),
    effectiveWithdraw: moneyToProto(decision.effective),
    openPositionsChecked: decision.openPositionsChecked,
    pendingFee: moneyToProto(decision.pendingFee),
    balanceBefore: moneyToProto(decision.balanceBefore),
    availableAfterFee: moneyToProto(decision.availableAfterFee),
    dealId,
    possibleDuplicateOf,
  };
}

/** Nothing is decided yet. A caller that does not expect this answer would take it for one of a withdrawal of nothing. */
function queuedAnswer(
  { operationId, amount, possibleDuplicateOf, queue }: Cashflow,
  { queueForMs }: WithdrawRequest,
): WithdrawResponse {
  if (queueForMs === undefined) throw waitsForMaster("withdrawal", operationId);
  return {
    operationId,
    requestedAmount: moneyToProto(amount),
    effectiveWithdraw: undefined,
    openPositionsChecked: true,
    pendingFee: undefined,
    balanceBefore: undefined,
    availableAfterFee: undefined,
    dealId: undefined,
    possibleDuplicateOf,
    queuedUntil: queue?.until,
  };
}

async function findOrRecord(deps: Deps, request: WithdrawRequest, context: CallContext): Promise<Saga> {
  const { login, comment, queueForMs } = request;
  const { commandId: operationId, deadline } = context;
  const amount = moneyFromProto(request.amount);
  const labels = labelsFromProto(request.labels);
  checkMovement({ operationId, amount, comment, labels, queueForMs });

  const own = { operationId, action: "withdraw", login, amount, comment, deadline, at: deps.now() } as const;
  const draft = {
    ...own,
    labels,
    duplicates: duplicateRuleOf(request.client, labels),
    clientKey: clientKeyOf(request.idempotencyKey),
    ...(queueForMs !== undefined && { queueUntil: later(own.at, Number(queueForMs)) }),
  };
  const { cashflow, isNew } = await record(deps, draft, context);
  return isNew ? begunSaga(cashflow) : await getSaga(deps.pool, cashflow.id);
}

export type SettledWithdrawal = { readonly decision: WithdrawalDecision; readonly dealId: bigint | undefined };

/** It waits until its Master is flat. */
type WaitingWithdrawal = { readonly waiting: Cashflow };

/** More turns than any saga needs; a saga that is still open then is left to the recovery job. */
const MAX_TURNS = 200;

/**
 * Continues a withdrawal from its recorded state to its end: acquire the account lock, let the pool decide, collect the fees,
 * pay out. Each turn handles one state, records the next one and returns it. A turn is safe to repeat, so after a crash, and
 * when another process has moved the saga on, it continues from its row.
 */
export async function settleWithdrawal(
  deps: Deps,
  begun: Saga,
  context: CallContext,
): Promise<SettledWithdrawal | WaitingWithdrawal> {
  const { operationId } = begun.cashflow;
  let saga = begun;
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const { state, refusal, dealId, queue } = saga.cashflow;
    if (queue?.state === "WAITING" && state === "RECORDED") return { waiting: saga.cashflow };
    failpoint("before_withdrawal_step", state);
    switch (state) {
      case "RECORDED":
        saga = await acquireLock(deps, saga, context);
        break;
      case "LEAVING":
        saga = await decideInPool(deps, saga, context);
        break;
      case "PAYING":
        saga = await collectAndPayOut(deps, saga, context);
        break;
      case "REFUSED":
        throw refusalOf(saga.cashflow, refusal);
      case "POSTED":
        return { decision: decided(saga.withdrawal.decision, operationId), dealId };
    }
  }
  throw outcomeUnknown(operationId);
}

function decided(decision: WithdrawalDecision | undefined, operationId: string): WithdrawalDecision {
  if (decision === undefined) {
    throw outcomeUnknown(operationId);
  }
  return decision;
}

/** Of an operation that has waited, every request that repeats it gets the same refusal, which names it. */
function refusalOf({ operationId, queue }: Cashflow, refusal: Refusal | undefined): Refusal {
  if (refusal === undefined) return outcomeUnknown(operationId);
  if (!wasQueued({ queue })) return refusal;
  return restated(refusal, { operationId });
}
