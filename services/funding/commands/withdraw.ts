import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { refusalFromProto } from "#kernel/contract/error.ts";
import { usdToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import { waitsForMaster } from "#catalogue/queue-until-flat.ts";
import { type Refusal, restated } from "#kernel/values/refusal.ts";
import type { WithdrawRequest, WithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import { type WithdrawResponse as Answer, WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { notBegun, outcomeUnknown, withBlocker } from "../domain/transfer-outcome.ts";
import { findOpenOperation } from "../store/cashflows.ts";
import { record } from "./record.ts";
import { callUntilAnswered, endUnsent, finish } from "./settle.ts";
import { markDoubt, markRefused, markWaiting } from "../store/cashflow-transitions.ts";

/** Pays out the requested amount, or what is available of it, once per command id. */
export async function withdraw(deps: Deps, request: WithdrawRequest, context: CallContext): Promise<WithdrawResponse> {
  const cashflow = await failAsUnavailable(() => record(deps, "withdraw", request, context));
  const { operationId, amount, possibleDuplicateOf, queueUntil } = cashflow;
  const answer = await settleWithdrawal(deps, cashflow, context);
  const { figures, dealId, inPool } = answer;
  const isWaiting = answer.state !== WithdrawalState.PAID;
  // A caller that does not expect this answer would take it for one of a withdrawal of nothing.
  if (isWaiting && request.queueForMs === undefined) throw waitsForMaster("withdrawal", operationId);
  return {
    operationId,
    requestedAmount: usdToProto(amount),
    effectiveWithdraw: figures?.effective,
    openPositionsChecked: isWaiting || inPool,
    pendingFee: figures?.pendingFee,
    balanceBefore: figures?.balanceBefore,
    availableAfterFee: figures?.availableAfterFee,
    dealId,
    possibleDuplicateOf,
    ...(isWaiting && { queuedUntil: queueUntil }),
  };
}

/**
 * Has subscription carry out a recorded withdrawal, and records the end. Safe to repeat until it succeeds: subscription carries out an operation
 * once, and only it knows the amounts. The answer of one that is paid, or waits until its Master is flat.
 */
export async function settleWithdrawal(deps: Deps, cashflow: Cashflow, context: CallContext): Promise<Answer> {
  const { id, operationId, state, refusal, isImported } = cashflow;
  if (refusal !== undefined) throw refusal;
  // Who has imported its deal has lost the amounts.
  if (isImported) throw outcomeUnknown(operationId);
  const request = requestOf(cashflow);
  const called = await callUntilAnswered((within) => deps.subscriptions.withdraw(request, within), context);
  if (called.kind === "not_sent") throw await endUnsent(deps, cashflow, notBegun(operationId));
  if (called.kind === "lost") throw outcomeUnknown(operationId);
  const { answer } = called;
  switch (answer.state) {
    case WithdrawalState.PAID:
      failpoint("before_posted", "withdraw");
      if (state === "RECORDED") await finish(deps, cashflow, answer.dealId);
      return answer;
    case WithdrawalState.WAITING:
    case WithdrawalState.RUNNING:
      await markWaiting(deps.pool, id, answer.state === WithdrawalState.WAITING ? "WAITING" : "RUNNING");
      return answer;
    case WithdrawalState.REFUSED:
      // Subscription has lost it, with commits of its database.
      if (state === "POSTED") throw outcomeUnknown(operationId);
      throw await endRefused(deps, cashflow, answer);
    default:
      await markDoubt(deps.pool, id, answer.state === WithdrawalState.REVIEW ? "REVIEW" : "UNKNOWN");
      throw outcomeUnknown(operationId);
  }
}

function requestOf({ operationId, login, amount, comment, deadline, queueUntil }: Cashflow) {
  return {
    operationId,
    investorLogin: login,
    amount: usdToProto(amount),
    comment,
    deadline,
    queueUntil,
  };
}

async function endRefused(deps: Deps, cashflow: Cashflow, answer: Answer): Promise<Refusal> {
  const refusal = await refusalOf(deps, cashflow, answer);
  await markRefused(deps.pool, cashflow.id, { refusal, at: deps.now() });
  return refusal;
}

/** Of an operation that has waited, every request that repeats it gets the same refusal, which names it. */
async function refusalOf({ pool }: Deps, { id, operationId, login }: Cashflow, answer: Answer): Promise<Refusal> {
  assert(answer.refusal !== undefined, `The refusal of operation ${operationId} has a reason.`);
  const refusal = restated(refusalFromProto(answer.refusal), { outcome: "not_executed" });
  if (answer.hasWaited) return restated(refusal, { operationId });
  if (refusal.code !== "account_busy" || refusal.operationId !== undefined) return refusal;
  return withBlocker(refusal, await findOpenOperation(pool, login, id));
}
