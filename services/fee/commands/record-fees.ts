import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { RecordFeesRequest, RecordFeesResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { isOpen } from "../domain/payment-outcome.ts";
import { transferOf } from "../messages/fee-transfer.ts";
import { listEndedUnpaid, type PaymentState } from "../store/due-payments.ts";
import { recordDecision } from "../processes/recording/record-decision.ts";
import { decisionOf, dueItem } from "../messages/decision.ts";

/** Records a decision, and returns what is collected of it: built from the stored rows, so that a repetition gets the same items. */
export async function recordFees(
  deps: Deps,
  request: RecordFeesRequest,
  context: CallContext,
): Promise<RecordFeesResponse> {
  const decision = decisionOf(request);
  await recordDecision(deps, decision, context);
  if (decision.key === undefined) return { items: [], endedKeys: [], transfers: [], stopped: false };
  const { investors } = decision;
  const recorded = await deps.queues.collections(decision.key);
  assert(recorded !== undefined, "a recorded decision is found");
  const isOwn = recorded.items.every(({ payment }) => payment.investorLogin === investors[0]?.investorLogin);
  assert(isOwn, "the key was used for another Investor");
  const weekly = investors.flatMap(({ openWeeklyKeys }) => openWeeklyKeys);
  const endedKeys = weekly.length === 0 ? [] : await listEndedUnpaid(deps.pool, weekly);
  const owed = recorded.items.flatMap(({ payment }) => (isOwed(payment) ? payment : []));
  const stopped = owed.some(({ isStopped }) => isStopped);
  return { items: recorded.items.map(dueItem), endedKeys, transfers: owed.map((each) => transferOf(each)), stopped };
}

function isOwed(payment: PaymentState): boolean {
  return isOpen(payment) && !payment.isDebited && payment.due > 0n;
}
