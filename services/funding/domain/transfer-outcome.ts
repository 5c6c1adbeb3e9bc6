import { OUTCOME_WAITED_FOR, waitsForNoCommand, waitsForOutcome } from "#catalogue/busy-account.ts";
import { type Refusal, restated, RESTART_RETRY_AFTER_MS } from "#kernel/values/refusal.ts";
import { refusalOfTransfer } from "#catalogue/transfer-refusals.ts";
import { refuse } from "../refusals.ts";

/** The outcome of a deposit or withdrawal as it was reported. */
export type TransferOutcome =
  | { readonly kind: "applied"; readonly dealId: bigint }
  | { readonly kind: "refused"; readonly code: string; readonly platformCode: number }
  | { readonly kind: "open"; readonly doubt: "UNKNOWN" | "REVIEW" };

/** An operation that has an account; its outcome may have to be determined. */
export type OpenOperation = { readonly operationId: string; readonly isUnknown: boolean };

/** No transfer was sent, and none will be. */
export function notSent(message: string, operationId?: string): Refusal {
  return refuse("platform_unavailable", `${message} Nothing was executed.`, {
    outcome: "not_executed",
    operationId,
    retryAfterMs: RESTART_RETRY_AFTER_MS,
  });
}

/** The service that carries it out was not reached, and nothing was begun. */
export function notBegun(operationId: string): Refusal {
  return refuse("service_unavailable", "A required service cannot be reached. Nothing was executed.", {
    outcome: "not_executed",
    operationId,
    retryAfterMs: RESTART_RETRY_AFTER_MS,
  });
}

/** Platform refused the order, or a service did not answer before it was sent. */
export function refusedUnsent(refusal: Refusal, operationId?: string): Refusal {
  const { code, message, details, operationId: executed, retryAfterMs } = refusal;
  if (code === "possible_duplicate") {
    return refuse(code, message, { outcome: "not_executed", operationId: executed, details });
  }
  // The history of the account cannot be read completely: no other operation has it.
  if (code === "account_busy") return refuse(code, message, { outcome: "not_executed", retryAfterMs });
  if (code === "account_archived") return refuse(code, message, { outcome: "not_executed", operationId, details });
  if (code !== "safety_stop") return notSent("The trading platform cannot be reached.", operationId);
  return refuse("safety_stop", message, { outcome: "not_executed", operationId });
}

/** The refusal of an account lock: no money moved, and none will. `blockedBy` is the operation that has the account. */
export function refusalOfLock(refusal: Refusal, blockedBy: OpenOperation | undefined): Refusal {
  const { code } = refusal;
  if (code !== "account_busy") return refusedUnsent(refusal);
  if (waitsForOutcome(refusal)) return busyUntilKnown(blockedBy);
  const message = waitsForNoCommand(refusal);
  if (message !== undefined) return refuse(code, message, { outcome: "not_executed" });
  return refusalOfDeposit({ kind: "refused", code, platformCode: 0 }, blockedBy);
}

/** The refusal of a withdrawal from a busy account, with the operation that has it. */
export function withBlocker(refusal: Refusal, blockedBy: OpenOperation | undefined): Refusal {
  if (blockedBy === undefined || waitsForNoCommand(refusal) !== undefined) return refusal;
  return blockedBy.isUnknown ? busyUntilKnown(blockedBy) : restated(refusal, { operationId: blockedBy.operationId });
}

type RefusedTransfer = Extract<TransferOutcome, { kind: "refused" }>;

/** The refusal for a deposit that platform recorded as refused: no money moved. `blockedBy` is the operation that has the account. */
export function refusalOfDeposit({ code, platformCode }: RefusedTransfer, blockedBy?: OpenOperation): Refusal {
  if (code !== "account_busy") return refusalOfTransfer({ refusalCode: code, platformCode });
  if (blockedBy?.isUnknown === true) return busyUntilKnown(blockedBy);
  return refuse(
    "account_busy",
    "Another operation on this account is in progress, and this one waited 5 seconds for its end. Nothing was executed. Send the request again in a second.",
    { outcome: "not_executed", operationId: blockedBy?.operationId },
  );
}

function busyUntilKnown(blockedBy: OpenOperation | undefined): Refusal {
  const { message, extra } = OUTCOME_WAITED_FOR;
  return refuse("account_busy", message, { ...extra, operationId: blockedBy?.operationId });
}

/** It is not known yet whether the money moved; the caller looks the operation up by its id. */
export function outcomeUnknown(operationId: string): Refusal {
  return refuse(
    "outcome_unknown",
    "It is not known yet whether the operation was executed. Look it up before repeating it.",
    {
      outcome: "unknown",
      operationId,
    },
  );
}
