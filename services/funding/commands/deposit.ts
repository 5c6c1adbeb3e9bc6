import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { usdToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import type { DepositRequest, DepositResponse } from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferRequest, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { type Cashflow, transferKeyOf } from "../domain/cashflow.ts";
import { outcomeUnknown, refusalOfDeposit, refusedUnsent, type TransferOutcome } from "../domain/transfer-outcome.ts";
import { findOpenOperation } from "../store/cashflows.ts";
import { markDoubt, markRefused } from "../store/cashflow-transitions.ts";
import { record } from "./record.ts";
import { callUntilAnswered, endUnsent, finish, type NotSent } from "./settle.ts";
import { Refusal } from "#kernel/values/refusal.ts";

/** Credits an Investor once per command id, however often the caller repeats it. */
export async function deposit(deps: Deps, request: DepositRequest, context: CallContext): Promise<DepositResponse> {
  const cashflow = await failAsUnavailable(() => record(deps, "deposit", request, context));
  const { operationId, firstDepositChecked, minDeposit, possibleDuplicateOf } = cashflow;
  assert(firstDepositChecked !== undefined && minDeposit !== undefined, `Operation ${operationId} is not a deposit.`);
  const dealId = await settleDeposit(deps, cashflow, context);
  return { operationId, dealId, firstDepositChecked, minDepositRequired: usdToProto(minDeposit), possibleDuplicateOf };
}

/**
 * Sends the transfer of a recorded deposit, then records the outcome. Safe to repeat until it succeeds: the transfer has one
 * key, and platform sends nothing after the deadline of the caller. Returns the ticket of the deal.
 */
export async function settleDeposit(deps: Deps, cashflow: Cashflow, context: CallContext): Promise<bigint> {
  if (cashflow.state !== "RECORDED") {
    return storedOutcome(cashflow);
  }
  const outcome = await sendTransfer(deps, transferOf(cashflow), context);
  switch (outcome.kind) {
    case "applied":
      failpoint("before_posted", "deposit");
      await finish(deps, cashflow, outcome.dealId);
      return outcome.dealId;
    case "refused": {
      const refusal = refusalOfDeposit(outcome, await findOpenOperation(deps.pool, cashflow.login, cashflow.id));
      await markRefused(deps.pool, cashflow.id, { refusal, at: deps.now() });
      throw refusal;
    }
    case "open":
      await markDoubt(deps.pool, cashflow.id, outcome.doubt);
      throw outcomeUnknown(cashflow.operationId);
    case "not_sent":
      throw await endUnsent(deps, cashflow, refusedUnsent(outcome.refusal, cashflow.operationId));
  }
}

function storedOutcome({ refusal, dealId, operationId }: Cashflow): bigint {
  if (refusal !== undefined) {
    throw refusal;
  }
  if (dealId === undefined) {
    throw outcomeUnknown(operationId);
  }
  return dealId;
}

function transferOf(cashflow: Cashflow): TransferRequest {
  return {
    key: transferKeyOf(cashflow),
    lockOwner: "",
    legs: [{ login: cashflow.login, kind: MovementKind.DEPOSIT, amount: usdToProto(cashflow.amount) }],
    upTo: undefined,
    enqueue: false,
    comment: cashflow.comment,
    sendBefore: cashflow.deadline,
    releaseLock: false,
  };
}

/** Sends a transfer request to platform, which executes a key once. */
export async function sendTransfer(
  { platform }: Deps,
  request: TransferRequest,
  context: CallContext,
): Promise<TransferOutcome | NotSent> {
  const send = (within: CallContext) => platform.transfer(request, within).then(outcomeOf, ofMismatch);
  const called = await callUntilAnswered(send, context);
  if (called.kind === "answered") return called.answer;
  return called.kind === "lost" ? { kind: "open", doubt: "UNKNOWN" } : called;
}

/** It is answered the same each time. */
function ofMismatch(error: unknown): TransferOutcome {
  if (error instanceof Refusal && error.code === "transfer_mismatch") return { kind: "open", doubt: "UNKNOWN" };
  throw error;
}

/** The outcome of a transfer whose first leg is the caller's money. */
export function outcomeOf({ state, legs, refusalCode, platformCode }: TransferResult): TransferOutcome {
  switch (state) {
    case TransferState.APPLIED: {
      const [leg] = legs;
      assert(leg !== undefined && leg.dealId > 0n, "an applied transfer has a deal");
      return { kind: "applied", dealId: leg.dealId };
    }
    case TransferState.REFUSED:
      return { kind: "refused", code: refusalCode, platformCode };
    case TransferState.REVIEW:
      return { kind: "open", doubt: "REVIEW" };
    default:
      return { kind: "open", doubt: "UNKNOWN" };
  }
}
