import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { Refusal } from "#kernel/refusal.ts";
import { type TransferRequest, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import type { TransferOutcome } from "../domain/transfer-outcome.ts";

/** Nothing was recorded under the key by this call. */
export type NotSent = { readonly kind: "not_sent"; readonly refusal: Refusal };

/** A platform service that was killed is back within a second or two. */
const ASK_AGAIN_MS = 200;
/** What another question needs of the caller's patience. */
const QUESTION_NEEDS_MS = 1_500;

/**
 * Asks platform for a transfer and tells apart what was recorded, what surely was not, and what nobody knows. An answer
 * that is lost on its way is asked for again while the caller waits: the key is executed once, however often it is asked.
 */
export async function sendTransfer(
  { platform }: Deps,
  request: TransferRequest,
  context: CallContext,
): Promise<TransferOutcome | NotSent> {
  for (let isLost = false; ; isLost = true) {
    try {
      return outcomeOf(await platform.transfer(request, withReplyReserve(context)));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Once a question was lost, no answer to another one says that it was not heard.
      if (!isLost && wasSurelyNotSent(error)) return { kind: "not_sent", refusal: error };
    }
    if (remainingMs(context) < QUESTION_NEEDS_MS) return { kind: "open", doubt: "UNKNOWN" };
    await pause(ASK_AGAIN_MS);
  }
}

/** What platform refuses instead of recording it is as good as not sent. */
function wasSurelyNotSent({ status, outcome }: Refusal): boolean {
  return outcome === "not_executed" || status === "invalid" || status === "not_found" || status === "conflict";
}

/** What platform's answer says of a transfer whose first leg is the caller's money. */
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
