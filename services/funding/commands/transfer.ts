import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import { type TransferRequest, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import type { TransferOutcome } from "../domain/transfer-outcome.ts";
import { callUntilAnswered, type NotSent } from "./settle.ts";

/** Sends a transfer request to platform, which executes a key once. */
export async function sendTransfer(
  { platform }: Deps,
  request: TransferRequest,
  context: CallContext,
): Promise<TransferOutcome | NotSent> {
  const send = (within: CallContext) => platform.transfer(request, within).then(outcomeOf, ofMismatch);
  const called = await callUntilAnswered(send, context);
  if (called.kind === "answered") return called.answer;
  return called.kind === "lost" ? { kind: "open", doubt: "UNKNOWN" } : called;
}

/** It is answered the same each time. */
function ofMismatch(error: unknown): TransferOutcome {
  if (error instanceof Refusal && error.code === "transfer_mismatch") return { kind: "open", doubt: "UNKNOWN" };
  throw error;
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
