import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { Refusal } from "#kernel/refusal.ts";
import { type TransferRequest, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import type { TransferOutcome } from "../domain/transfer-outcome.ts";

/** Nothing was recorded under the key by this call. */
export type NotSent = { readonly kind: "not_sent"; readonly refusal: Refusal };

/** A platform replica that was killed is replaced within a second or two. */
const RETRY_PAUSE_MS = 200;
/** Shortest remaining wait budget that is worth another call. */
const MIN_CALL_MS = 1_500;

/**
 * Sends a transfer request to platform and distinguishes recorded, certainly not sent and unknown. After a lost answer the
 * request is repeated while the caller waits: platform executes a key once. `isWorthRepeating` names refusals after which it is repeated, too.
 */
export async function sendTransfer(
  { platform }: Deps,
  request: TransferRequest,
  context: CallContext,
  isWorthRepeating: (refusal: Refusal) => boolean = () => false,
): Promise<TransferOutcome | NotSent> {
  for (let isLost = false; ; await pause(RETRY_PAUSE_MS)) {
    let unsent: Refusal | undefined;
    try {
      return outcomeOf(await platform.transfer(request, withReplyReserve(context)));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // It is answered the same each time.
      if (error.code === "transfer_mismatch") return { kind: "open", doubt: "UNKNOWN" };
      // After a lost answer a later refusal does not prove that the first request was not recorded.
      if (!isLost && wasSurelyNotSent(error)) unsent = error;
    }
    isLost ||= unsent === undefined;
    const isOver = remainingMs(context) < MIN_CALL_MS;
    if (unsent !== undefined && (isOver || !isWorthRepeating(unsent))) return { kind: "not_sent", refusal: unsent };
    if (isOver) return { kind: "open", doubt: "UNKNOWN" };
  }
}

/** A request that platform refuses without recording it counts as not sent. */
function wasSurelyNotSent({ status, outcome }: Refusal): boolean {
  if (outcome !== undefined) return outcome === "not_executed";
  return status === "invalid" || status === "not_found" || status === "conflict";
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

/** Records that the money moved. platform has recorded it already, so after a database failure the recovery job records it. */
export async function finish(
  { queues, log, now }: Deps,
  { id, operationId }: Cashflow,
  outcome: { readonly dealId: bigint; readonly isReleased: boolean },
): Promise<void> {
  try {
    await queues.posting.add({ id, at: now(), ...outcome });
  } catch (error) {
    log.info("executed operation not recorded, retry scheduled", { operation_id: operationId, error });
  }
}
