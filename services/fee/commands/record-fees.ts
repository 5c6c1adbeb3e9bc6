import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { RecordFeesRequest, RecordFeesResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { decisionOf } from "../messages/decision.ts";
import { dueItem } from "../messages/due-item.ts";
import { listEndedUnpaid } from "../store/due-payments.ts";
import { recordDecision } from "../processes/recording/record-decision.ts";

/** Records a decision, and returns what is collected of it: built from the stored rows, so that a repetition gets the same items. */
export async function recordFees(
  deps: Deps,
  request: RecordFeesRequest,
  context: CallContext,
): Promise<RecordFeesResponse> {
  const decision = decisionOf(request);
  await recordDecision(deps, decision, context);
  const { key, investors } = decision;
  if (key === undefined) return { items: [], endedKeys: [] };
  const recorded = await deps.queues.collections(key);
  assert(recorded !== undefined, "a recorded decision is found");
  const isOwn = recorded.items.every(({ payment }) => payment.investorLogin === investors[0]?.investorLogin);
  assert(isOwn, "the key was used for another Investor");
  const weekly = investors.flatMap(({ openWeeklyKeys }) => openWeeklyKeys);
  return { items: recorded.items.map(dueItem), endedKeys: await listEndedUnpaid(deps.pool, weekly) };
}
