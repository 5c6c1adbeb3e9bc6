import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import type { TransferRequest, TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { afterAnswer, type Deadlines, followTransfer } from "../protocol/follow-transfer.ts";
import type { OrderRequest } from "../protocol/permit-requests.ts";
import type { Turn } from "../protocol/sending.ts";
import { neverQueues, readTransferOrder, type TransferOrder } from "../protocol/transfer-order.ts";
import { transferResult } from "../protocol/transfer-result.ts";
import { accountLocked } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { listLegsByKey } from "../store/legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { repeatTransient } from "./repeat-transient.ts";

/** Other transactions lock an account for the time of a commit. */
const MAX_LOCKED_MS = 2_000;
const LOCKED_POLL_MS = 10;
/** Maximum delay of an order by one lost answer, when its caller repeats it anyway with an amount computed anew. */
const LOST_WAIT_MS = 2_000;

/**
 * Moves money once under a key of the caller. The platform executes the transfer at most once, however often the key is
 * requested and whichever process crashes, and every request for the key answers the recorded result.
 */
export async function transfer(deps: Deps, request: TransferRequest, context: CallContext): Promise<TransferResult> {
  const order = { kind: "order", order: readTransferOrder(request), requestId: context.requestId } as const;
  return (await executeOrder(deps, order, context)).result;
}

/**
 * The result of an order, and what became of the one that follows it: undefined when that is still to be asked for. `begun`: what became of this
 * one when the answer before it was recorded.
 */
export async function executeOrder(
  deps: Deps,
  request: OrderRequest,
  context: CallContext,
  begun?: Turn,
): Promise<{ readonly result: TransferResult; readonly next: Turn | undefined }> {
  let turn = begun;
  const { legs, next } = await repeatTransient(context, () => {
    const first = turn;
    turn = undefined;
    return recordAndSend(deps, request, context, first);
  });
  // As it was recorded first.
  if (legs[0]?.isEnqueued === true) return { result: transferResult(legs), next };
  const deadlines = deadlinesOf(deps, request.order, context);
  return { result: transferResult(await followTransfer(deps, legs, deadlines)), next };
}

type Begun = { readonly legs: readonly RecordedLeg[]; readonly next?: Turn | undefined };

/** An order that was rolled back is recorded by the next try, and one whose commit was not confirmed is found by its key. */
async function recordAndSend(
  deps: Deps,
  request: OrderRequest,
  context: CallContext,
  begun: Turn | undefined,
): Promise<Begun> {
  const { order } = request;
  const now = performance.now();
  const byMs = now + remainingMs(context) - REPLY_RESERVE_MS;
  const lockedByMs = Math.min(byMs, now + MAX_LOCKED_MS);
  for (let turn = begun; ; turn = undefined) {
    const { decision, sent } = turn ?? (await deps.sending.request(request, byMs));
    switch (decision.kind) {
      case "refused":
        throw decision.refusal;
      case "known":
        requireSameContent(decision.legs, order);
        if (order.isEnqueued) deps.legsSignal.notify();
        return { legs: decision.legs };
      case "recorded": {
        const { legs } = decision;
        if (order.isEnqueued && sent === undefined) deps.legsSignal.notify();
        if (order.isEnqueued || sent === undefined) return { legs };
        const { leg, next } = await sent;
        const present = afterAnswer(legs, leg) ?? (await listLegsByKey(deps.pool, [order.key])).get(order.key);
        return { legs: present ?? legs, next };
      }
      default:
        if (performance.now() >= lockedByMs) throw accountLocked();
        await deps.loginSignals.wait(order.legs[0].login, LOCKED_POLL_MS);
    }
  }
}

/** A key belongs to one order for ever: under another one nothing is executed, and its caller learns nothing about the recorded one. */
function requireSameContent(legs: readonly RecordedLeg[], order: TransferOrder): void {
  const recorded = legs.filter(({ ordinal }) => ordinal <= 2);
  if (recorded.length === order.legs.length && recorded.every((leg) => isOrdered(leg, order))) return;
  throw refuse("transfer_mismatch", "The key was used for another transfer.", {
    outcome: "unknown",
    details: { key: order.key },
  });
}

/**
 * What was moved, the comment that the customer sees and the lock that ended with it belong to an order. What only decides when it is sent, or
 * how much there is to take at the moment, does not: a fee is repeated with another floor, by a job without a lock or under that of an exit.
 */
function isOrdered({ ordinal, status: { kind }, ...leg }: RecordedLeg, order: TransferOrder): boolean {
  const ordered = order.legs[ordinal - 1];
  return (
    leg.login === ordered?.login &&
    kind === ordered.kind &&
    leg.requestedMinor === ordered.amountMinor &&
    (order.floorMinor !== undefined || leg.amountMinor === leg.requestedMinor) &&
    (LEG_KINDS[kind].origin === "internal" || leg.comment === order.comment) &&
    leg.releasesLock === order.releasesLock &&
    (!order.releasesLock || leg.lockOwner === order.lockOwner)
  );
}

function deadlinesOf({ settings }: Deps, order: TransferOrder, context: CallContext): Deadlines {
  const now = performance.now();
  return {
    answerByMs: now + remainingMs(context) - REPLY_RESERVE_MS,
    turnByMs: now + settings.turnWaitMs,
    lostWaitMs: neverQueues(order) ? LOST_WAIT_MS : Infinity,
  };
}
