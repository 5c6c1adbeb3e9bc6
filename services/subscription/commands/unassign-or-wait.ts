import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { waitsForMaster } from "#kernel/queue-until-flat.ts";
import { Refusal } from "#kernel/refusal.ts";
import { later, RECOVERY_GRACE_MS } from "#kernel/retry.ts";
import type { UnassignRequest, UnassignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { alreadyQueued } from "../domain/unassign-reasons.ts";
import { subscriptionMessage } from "../messages/subscription.ts";
import { findActive } from "../processes/exit/find-active.ts";
import { tryQueued } from "../processes/queue/try-queued.ts";
import { findOpenQueued, findQueued, insertQueued, type QueuedUnassign } from "../store/queued-unassigns.ts";
import { getSubscription } from "../store/subscriptions.ts";

/** Takes an Investor out of the pool, or waits for that until its Master is flat. */
export async function unassignOrWait(
  deps: Deps,
  request: UnassignRequest & { readonly queueForMs: bigint },
  context: CallContext,
): Promise<UnassignResponse> {
  const queued = await failAsUnavailable(() => record(deps, request, context));
  return (await tryQueued(deps, queued, context)) ?? (await waitingAnswer(deps, queued));
}

async function record(
  deps: Deps,
  request: UnassignRequest & { readonly queueForMs: bigint },
  context: CallContext,
): Promise<QueuedUnassign> {
  const { id: subscriptionId } = await findActive(deps, request, context);
  const { commandId } = context;
  await insertQueued(deps.pool, {
    commandId,
    subscriptionId,
    queueForMs: request.queueForMs,
    at: deps.now(),
    deadlineAt: later(context.deadline, RECOVERY_GRACE_MS),
    recoverInMs: remainingMs(context) + RECOVERY_GRACE_MS,
  });
  const queued = await findQueued(deps.pool, commandId);
  if (queued !== undefined) return queued;
  const other = await findOpenQueued(deps.pool, subscriptionId);
  throw alreadyQueued(other?.commandId ?? "");
}

/** The answer to a repeated command; undefined while its first try may still run, so that the repetition joins it. */
export async function answerAgain(
  deps: Deps,
  queued: QueuedUnassign,
  { queueForMs }: UnassignRequest,
): Promise<UnassignResponse | undefined> {
  if (queued.refusal !== null) throw new Refusal({ ...queued.refusal, operationId: queued.commandId });
  if (queued.state === "WANTED" || queued.state === "ENDED") return undefined;
  if (queueForMs === undefined) throw waitsForMaster("unassign", queued.commandId);
  return await waitingAnswer(deps, queued);
}

/** Nothing has begun. */
async function waitingAnswer(deps: Deps, { subscriptionId, expiresAt }: QueuedUnassign): Promise<UnassignResponse> {
  const subscription = await getSubscription(deps.pool, subscriptionId);
  return {
    subscription: subscriptionMessage(subscription),
    payoutEnqueued: false,
    transferId: undefined,
    amount: moneyToProto(usd(0n)),
    queuedUntil: expiresAt ?? undefined,
  };
}
