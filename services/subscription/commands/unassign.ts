import assert from "node:assert/strict";
import { labelErrors } from "#kernel/values/labels.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { queueErrors, waitsForMaster } from "#catalogue/queue-until-flat.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { later } from "#kernel/jobs/retry.ts";
import type { UnassignRequest, UnassignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isLogin, isPresent, validate } from "../domain/validate.ts";
import { getLatestOfPair } from "../latest-subscription.ts";
import { subscriptionMessage } from "../messages/subscription.ts";
import { beginOrJoin, join } from "../processes/departure/depart.ts";
import { insertOperationLabels } from "../store/operations.ts";
import { type Departure, findDeparture, findQueuedExit } from "../store/departures.ts";
import { findFirstExitTransfer } from "../store/exit-transfers.ts";
import { getSubscription, type Subscription } from "../store/subscriptions.ts";
import { alreadyQueued, unassignReasons } from "../domain/departure-reasons.ts";

/** Takes an Investor out of the pool, or waits for that until its Master is flat. Once decided, it is always completed. */
export async function unassign(deps: Deps, request: UnassignRequest, context: CallContext): Promise<UnassignResponse> {
  const { commandId: operationId, deadline: deadlineAt } = context;
  const { masterLogin, investorLogin, queueForMs } = request;
  validate(
    isLogin("master_login", masterLogin),
    isLogin("investor_login", investorLogin),
    ...labelErrors(request.labels),
    isPresent("command_id", operationId),
    ...queueErrors(queueForMs),
  );
  await failAsUnavailable(() => insertOperationLabels(deps.pool, operationId, request.labels));
  const known = await failAsUnavailable(() => findDeparture(deps.pool, operationId));
  if (known !== undefined) return await answer(deps, request, await join(deps, known, context));
  const { id: subscriptionId } = await failAsUnavailable(() => getActive(deps, request, context));
  const queueUntil = queueForMs === undefined ? undefined : later(deps.now(), Number(queueForMs));
  const exit = { kind: "EXIT", requested: 0n, comment: "", subscriptionId, masterLogin } as const;
  const departure = await beginOrJoin(deps, { ...exit, operationId, investorLogin, deadlineAt, queueUntil }, context);
  if (departure !== undefined) return await answer(deps, request, departure);
  const other = await findQueuedExit(deps.pool, subscriptionId);
  throw alreadyQueued(other?.operationId ?? "");
}

/** The subscription that an unassign ends. */
async function getActive(deps: Deps, request: UnassignRequest, context: CallContext): Promise<Subscription> {
  const subscription = await getLatestOfPair(deps, request, context);
  const [reason] = unassignReasons(subscription);
  if (reason !== undefined) throw reason;
  return subscription;
}

/** What the command has committed, without later changes. */
async function answer(deps: Deps, request: UnassignRequest, departure: Departure): Promise<UnassignResponse> {
  const { operationId, subscriptionId, state, refusal, queueUntil, hasWaited, leftStatus, effective } = departure;
  assert(subscriptionId !== null, "an exit is of a subscription");
  if (state === "REFUSED" && refusal !== null) {
    throw new Refusal(hasWaited ? { ...refusal, operationId } : refusal);
  }
  const subscription = await getSubscription(deps.pool, subscriptionId);
  if (leftStatus === null || effective === null) {
    if (request.queueForMs === undefined) throw waitsForMaster("unassign", operationId);
    const nothing = { payoutEnqueued: false, transferId: undefined, amount: moneyToProto(usd(0n)) };
    return { subscription: subscriptionMessage(subscription), ...nothing, queuedUntil: queueUntil ?? undefined };
  }
  const transfer = effective === 0n ? undefined : await findFirstExitTransfer(deps.pool, subscriptionId);
  const endedAt = leftStatus === "PAUSED" ? null : subscription.endedAt;
  return {
    subscription: subscriptionMessage({ ...subscription, status: leftStatus, endedAt }),
    payoutEnqueued: effective > 0n,
    transferId: transfer?.transferId,
    amount: moneyToProto(usd(-effective)),
  };
}
