import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { isZero, negate, type Money } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { laneHolder, payoutKey } from "../../domain/cashflow.ts";
import { outcomeUnknown, refusalOfTransfer } from "../../domain/transfer-outcome.ts";
import { markDoubt, markPosted } from "../../store/cashflows.ts";
import { finish } from "../finish.ts";
import { sendTransfer } from "../transfer.ts";
import { refuseStory, releaseForGood, type Story } from "./end-story.ts";

/** Pays what was decided, or nothing when nothing remained. */
export async function payOut(deps: Deps, story: Story, context: CallContext): Promise<void> {
  const { cashflow, withdrawal } = story;
  if (withdrawal.decision === undefined) {
    throw outcomeUnknown(cashflow.operationId);
  }
  const { effective } = withdrawal.decision;
  if (isZero(effective)) {
    await inTransaction(deps.pool, (tx) => markPosted(tx, cashflow.id, { at: deps.now() }));
    return await releaseForGood(deps, story, context);
  }
  const outcome = await sendTransfer(deps, transferOf(story, effective), context);
  switch (outcome.kind) {
    case "applied":
      failpoint("before_posted", "withdraw");
      await finish(deps, cashflow, { dealId: outcome.dealId, moved: negate(effective) }, context);
      return await releaseForGood(deps, story, context);
    case "refused":
      return await giveBack(deps, story, refusalOfTransfer(outcome), context);
    case "open":
      await markDoubt(deps.pool, cashflow.id, outcome.doubt);
      throw outcomeUnknown(cashflow.operationId);
    case "not_sent":
      throw outcomeUnknown(cashflow.operationId);
  }
}

/**
 * The reserve goes back to the pool before the lane is let go. Where that fails, the caller still hears the truth, and the
 * row stays open for the settling job.
 */
async function giveBack(deps: Deps, story: Story, refusal: Refusal, context: CallContext): Promise<void> {
  try {
    await deps.subscriptions.returnReserve({ key: payoutKey(story.cashflow) }, context);
  } catch (error) {
    deps.log.warn("a reserve is returned later", { operation_id: story.cashflow.operationId, error });
    throw refusal;
  }
  await refuseStory(deps, story, refusal, context);
}

function transferOf({ cashflow, withdrawal }: Story, effective: Money): TransferRequest {
  return {
    key: payoutKey(cashflow),
    holder: laneHolder(cashflow, withdrawal.try),
    legs: [{ login: cashflow.login, kind: MovementKind.WITHDRAWAL, amount: moneyToProto(negate(effective)) }],
    upTo: undefined,
    enqueue: false,
    comment: cashflow.comment,
    sendBefore: undefined,
  };
}
