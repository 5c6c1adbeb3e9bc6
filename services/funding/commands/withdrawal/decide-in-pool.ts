import { setTimeout as pause } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal, restated } from "#kernel/refusal.ts";
import { LeaveKind, type LeaveRequest, type LeaveResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import { feeSuffix, payoutKey, withdrawalKey } from "../../domain/cashflow.ts";
import { outcomeUnknown } from "../../domain/transfer-outcome.ts";
import type { HeldFacts, Saga, WithdrawalDecision } from "../../domain/withdrawal.ts";
import { getSaga, markNextTry } from "../../store/withdrawals.ts";
import { endOrWait } from "./end-or-wait.ts";
import { releaseLock } from "./end-saga.ts";

/** Refusals that may pass within a moment: retried while the caller waits. */
const RETRYABLE = new Set(["account_busy", "allocation_in_progress"]);
/** Final refusals of the pool: recorded under key and try, so this try can never be decided differently. */
const FINAL = new Set([...RETRYABLE, "master_open_positions", "investor_deficit", "safety_stop"]);
/** The operation that holds the lock, or the allocation, usually ends within a moment, and the caller waits. */
const PAUSE_BETWEEN_TRIES_MS = 200;
/** Shortest remaining wait budget that is worth another try. */
const MIN_TRY_MS = 3_000;

/** Lets the pool decide the amounts. After its decision the saga is always completed, without a deadline. */
export async function decideInPool(deps: Deps, saga: Saga, context: CallContext): Promise<Saga> {
  const { cashflow, withdrawal } = saga;
  const { held } = withdrawal;
  if (held === undefined) {
    throw outcomeUnknown(cashflow.operationId);
  }
  try {
    const answer = await deps.subscriptions.leave(leaveOf(saga, held), withReplyReserve(context));
    const decision = decisionOf(answer);
    const { isMoved } = await deps.queues.paying.add({ id: cashflow.id, decision });
    if (!isMoved) return await getSaga(deps.pool, cashflow.id);
    return { cashflow: { ...cashflow, state: "PAYING" }, withdrawal: { ...withdrawal, decision } };
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    if (!FINAL.has(error.code)) {
      throw outcomeUnknown(cashflow.operationId);
    }
    return await handleRefusal(deps, saga, error, context);
  }
}

async function handleRefusal(deps: Deps, saga: Saga, refusal: Refusal, context: CallContext): Promise<Saga> {
  const mayRetry = RETRYABLE.has(refusal.code) && remainingMs(context) > MIN_TRY_MS;
  // The next try has a lock owner of its own, so it begins only after the lock of this one is certainly released.
  if (mayRetry && (await releaseLock(deps, saga, context))) {
    await inTransaction(deps.pool, (tx) => markNextTry(tx, saga.cashflow.id, saga.withdrawal.try));
    await pause(PAUSE_BETWEEN_TRIES_MS);
    return await getSaga(deps.pool, saga.cashflow.id);
  }
  const facts = { outcome: "not_executed", operationId: undefined } as const;
  return await endOrWait(deps, saga, restated(refusal, facts), context);
}

function leaveOf({ cashflow, withdrawal }: Saga, held: HeldFacts): LeaveRequest {
  return {
    key: withdrawalKey(cashflow),
    try: withdrawal.try,
    investorLogin: cashflow.login,
    kind: LeaveKind.WITHDRAWAL,
    requested: moneyToProto(cashflow.amount),
    heldBalance: moneyToProto(held.balance),
    heldLogNumber: held.logNumber,
    payoutKey: payoutKey(cashflow),
    feeSuffix: feeSuffix(cashflow),
  };
}

function decisionOf(answer: LeaveResponse): WithdrawalDecision {
  return {
    balanceBefore: moneyFromProto(answer.balanceBefore, "balance_before"),
    pendingFee: moneyFromProto(answer.pendingFee, "pending_fee"),
    availableAfterFee: moneyFromProto(answer.availableAfterFee, "available_after_fee"),
    effective: moneyFromProto(answer.effective, "effective"),
    openPositionsChecked: answer.inPool,
  };
}
