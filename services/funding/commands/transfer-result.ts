import assert from "node:assert/strict";
import { TransferState, type TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import type { TransferOutcome } from "../domain/transfer-outcome.ts";

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
