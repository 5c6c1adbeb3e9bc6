import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { RecordFeesRequest, RecordFeesResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import type { Collection } from "../store/collections.ts";
import { listEndedUnpaid } from "../store/due-payments.ts";
import { recordDecision } from "../processes/recording/record-decision.ts";
import { decisionOf, dueItem } from "../messages/decision.ts";

/** Records a decision, and returns what is collected of it: built from the stored rows, so that a repetition gets the same items. */
export async function recordFees(
  deps: Deps,
  request: RecordFeesRequest,
  context: CallContext,
): Promise<RecordFeesResponse> {
  if (request.key !== "") return (await recordForKey(deps, request, context)).response;
  await recordDecision(deps, decisionOf(request), context);
  return { items: [], endedKeys: [] };
}

/** Of a withdrawal or exit: what is to be collected under its key now. */
export async function recordForKey(
  deps: Deps,
  request: RecordFeesRequest,
  context: CallContext,
): Promise<{ readonly response: RecordFeesResponse; readonly recorded: Collection }> {
  const decision = decisionOf(request);
  await recordDecision(deps, decision, context);
  const { investors } = decision;
  const recorded = await deps.queues.collections(request.key);
  assert(recorded !== undefined, "a recorded decision is found");
  const isOwn = recorded.items.every(({ payment }) => payment.investorLogin === investors[0]?.investorLogin);
  assert(isOwn, "the key was used for another Investor");
  const weekly = investors.flatMap(({ openWeeklyKeys }) => openWeeklyKeys);
  const endedKeys = weekly.length === 0 ? [] : await listEndedUnpaid(deps.pool, weekly);
  return { response: { items: recorded.items.map(dueItem), endedKeys }, recorded };
}
