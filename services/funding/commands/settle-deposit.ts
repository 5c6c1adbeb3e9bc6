import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { depositKey, type Cashflow } from "../domain/cashflow.ts";
import { outcomeUnknown, refusalOfTransfer } from "../domain/transfer-outcome.ts";
import { refuse } from "../refusals.ts";
import { findOpenOperation, markDoubt, markNeverSent, markRefused } from "../store/cashflows.ts";
import { finish } from "./finish.ts";
import { sendTransfer } from "./send-transfer.ts";

const RETRY_AFTER_MS = 1_000;

/**
 * Acts on a recorded deposit, then records the outcome and tells of it. Safe to repeat until it succeeds: the transfer has
 * one key, and platform begins nothing after the instant until which the caller waits. Answers the ticket.
 */
export async function settleDeposit(deps: Deps, cashflow: Cashflow, context: CallContext): Promise<bigint> {
  if (cashflow.state !== "RECORDED") {
    return storedAnswer(cashflow);
  }
  const outcome = await sendTransfer(deps, transferOf(cashflow), context);
  switch (outcome.kind) {
    case "applied":
      failpoint("before_posted", "deposit");
      await finish(deps, cashflow, { dealId: outcome.dealId, moved: cashflow.amount }, context);
      return outcome.dealId;
    case "refused": {
      const refusal = refusalOfTransfer(outcome, await findOpenOperation(deps.pool, cashflow.login, cashflow.id));
      await markRefused(deps.pool, cashflow.id, { from: "RECORDED", refusal, at: deps.now() });
      throw refusal;
    }
    case "open":
      await markDoubt(deps.pool, cashflow.id, outcome.doubt);
      throw outcomeUnknown(cashflow.operationId);
    case "not_sent":
      throw await giveUp(deps, cashflow);
  }
}

/** The story ends as not executed, unless the settling job has taken it over: then somebody may have sent it. */
async function giveUp(deps: Deps, cashflow: Cashflow): Promise<Error> {
  const refusal = refuse("platform_unavailable", "The trading platform cannot be reached. Nothing was executed.", {
    outcome: "not_executed",
    operationId: cashflow.operationId,
    retryAfterMs: RETRY_AFTER_MS,
  });
  const isOver = await markNeverSent(deps.pool, cashflow.id, { refusal, at: deps.now() });
  return isOver ? refusal : outcomeUnknown(cashflow.operationId);
}

function storedAnswer({ refusal, dealId, operationId }: Cashflow): bigint {
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
    key: depositKey(cashflow),
    holder: "",
    legs: [{ login: cashflow.login, kind: MovementKind.DEPOSIT, amount: moneyToProto(cashflow.amount) }],
    upTo: undefined,
    enqueue: false,
    comment: cashflow.comment,
    sendBefore: cashflow.deadline,
  };
}
