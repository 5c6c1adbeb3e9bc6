import type { Refusal } from "#kernel/refusal.ts";
import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** What platform said of a transfer, in the words of this service. */
export type TransferOutcome =
  | { readonly kind: "applied"; readonly dealId: bigint }
  | { readonly kind: "refused"; readonly code: string; readonly platformCode: number }
  | { readonly kind: "open"; readonly doubt: "UNKNOWN" | "REVIEW" };

type RefusedTransfer = Extract<TransferOutcome, { kind: "refused" }>;

/** Why the caller's money did not move. It surely did not: platform has recorded so. */
export function refusalOfTransfer({ code, platformCode }: RefusedTransfer, blockedBy?: string): Refusal {
  switch (code) {
    case "insufficient_funds":
      return refuse("insufficient_funds", "the account does not have enough free money", { outcome: "not_executed" });
    case "account_busy":
      return refuse("account_busy", "another operation on this account is still under way", {
        outcome: "not_executed",
        operationId: blockedBy,
        retryAfterMs: RETRY_AFTER_MS,
      });
    case "platform_rejected":
      return refuse("platform_rejected", "the trading platform refused the operation", {
        outcome: "not_executed",
        details: { platform_code: String(platformCode) },
      });
    default:
      return refuse("platform_unavailable", "the trading platform did not execute the operation in time", {
        outcome: "not_executed",
        retryAfterMs: RETRY_AFTER_MS,
      });
  }
}

/** Nobody knows yet whether the money moved; the operation can be looked up by its id. */
export function outcomeUnknown(operationId: string): Refusal {
  return refuse(
    "outcome_unknown",
    "it is not known yet whether the operation was executed; do not repeat it, look it up",
    {
      outcome: "unknown",
      operationId,
    },
  );
}
