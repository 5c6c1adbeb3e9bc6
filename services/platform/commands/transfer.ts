import { setTimeout as delay } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { isTransient } from "#kernel/postgres/failure.ts";
import { CommitUnknown, inTransaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import type { TransferRequest, TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { followTransfer, type Deadlines } from "../protocol/follow-transfer.ts";
import { insertOrders } from "../protocol/insert-orders.ts";
import { acquireSession, permitHolderOf, sendOnce } from "../protocol/send.ts";
import { transferResult } from "../protocol/transfer-result.ts";
import { undoUnsent } from "../protocol/transfer-together.ts";
import { neverQueues, readTransferOrder, type TransferOrder } from "../protocol/transfer-order.ts";
import { refuse } from "../refusals.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { listLegs } from "../store/legs.ts";
import { findTransferByKey, type Transfer } from "../store/transfers.ts";

/** Maximum tries after transient failures of the database; after these the caller has to retry. */
const MAX_TRIES = 4;
/** Short, because the caller waits. */
const RETRY_MS = 100;

/**
 * Moves money once under a key of the caller. The platform executes the transfer at most once, however often the key is
 * requested and whichever process crashes, and every request for the key answers the recorded result.
 */
export async function transfer(deps: Deps, request: TransferRequest, context: CallContext): Promise<TransferResult> {
  const deadlines = deadlinesOf(deps, context);
  const order = readTransferOrder(request);
  const known = await findTransferByKey(deps.pool, order.key);
  const fresh = known === undefined ? await recordOrder(deps, order, context) : undefined;
  const recorded = fresh ?? known ?? (await getTransferByKey(deps, order.key));
  if (fresh === undefined) requireSameContent(await listLegs(deps.pool, recorded.id), order);
  const legs = recorded.isEnqueued
    ? await listLegs(deps.pool, recorded.id)
    : await followTransfer(deps, recorded.id, deadlines);
  return transferResult(recorded, legs);
}

/**
 * Retries transient failures of the database: an order that was rolled back is recorded by the next try, and an order whose
 * commit was not confirmed is found by its key.
 */
async function recordOrder(deps: Deps, order: TransferOrder, context: CallContext): Promise<Transfer | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await recordOnce(deps, order, context);
    } catch (error) {
      if (!isTransient(error) || tries === MAX_TRIES || remainingMs(context) < REPLY_RESERVE_MS) throw error;
      await delay(RETRY_MS);
      const recorded = await findTransferByKey(deps.pool, order.key);
      if (recorded !== undefined) return recorded;
    }
  }
}

/** Records the intent and, when the login is free, the permit in one commit, and sends. Undefined for a known key. */
async function recordOnce(deps: Deps, order: TransferOrder, context: CallContext): Promise<Transfer | undefined> {
  using session = order.isEnqueued ? undefined : await acquireSession(deps);
  if (session === undefined && neverQueues(order)) throw unreachable();
  try {
    const permitHolder = session && permitHolderOf(deps, session);
    const { requestId } = context;
    const [answer] = await inTransaction(deps.pool, (tx) => insertOrders(tx, [{ order, requestId, permitHolder }]));
    if (answer?.kind === "refused") throw answer.refusal;
    if (answer?.kind !== "recorded") return undefined;
    deps.reach("after_intent", order.legs[0]?.kind);
    if (answer.permit !== undefined && session !== undefined) await sendOnce(deps, answer.permit, session);
    if (order.isEnqueued) deps.legsSignal.notify();
    return answer.transfer;
  } catch (error) {
    if (error instanceof CommitUnknown && session !== undefined) await undoUnsent(deps, order.key, session);
    throw error;
  }
}

export function unreachable(): Refusal {
  return refuse("platform_unavailable", "The trading platform cannot be reached. Nothing was executed.", {
    outcome: "not_executed",
  });
}

async function getTransferByKey(deps: Deps, key: string): Promise<Transfer> {
  const recorded = await findTransferByKey(deps.pool, key);
  if (recorded === undefined) throw new Error("a recorded transfer is missing");
  return recorded;
}

/** A key belongs to one order for ever; another order under the same key is refused and nothing is executed. */
export function requireSameContent(legs: readonly RecordedLeg[], order: TransferOrder): void {
  const recorded = legs.filter(({ ordinal }) => ordinal <= 2);
  const isSame =
    recorded.length === order.legs.length &&
    order.legs.every(({ login, kind, amountMinor }, index) => {
      const leg = recorded[index];
      return leg?.login === login && leg.status.kind === kind && leg.requestedMinor === amountMinor;
    });
  if (isSame) return;
  throw refuse("transfer_mismatch", "The key was used for another transfer.", { details: { key: order.key } });
}

export function deadlinesOf({ settings }: Deps, context: CallContext): Deadlines {
  const now = performance.now();
  return { answerByMs: now + remainingMs(context) - REPLY_RESERVE_MS, turnByMs: now + settings.turnWaitMs };
}
