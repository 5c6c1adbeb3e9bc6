import { type Refusal, refusalsOf } from "#kernel/values/refusal.ts";

/** Why platform has not executed a transfer, as callers are answered; part of the refusals of every service that requests some for them. */
export const { refuse, refusals: TRANSFER_REFUSALS } = refusalsOf({
  insufficient_funds: "conflict",
  possible_duplicate: "conflict",
  platform_rejected: "rejected",
  platform_unavailable: "unavailable",
});

/** The refusal for a transfer that platform has recorded as refused: no money moved. */
export function refusalOfTransfer({
  refusalCode,
  platformCode,
}: {
  readonly refusalCode: string;
  readonly platformCode: number;
}): Refusal {
  switch (refusalCode) {
    case "insufficient_funds":
      return refuse("insufficient_funds", "The account's free funds are below the requested amount.", {
        outcome: "not_executed",
      });
    case "platform_rejected":
      return refuse("platform_rejected", `The trading platform refused the operation with code ${platformCode}.`, {
        outcome: "not_executed",
        details: { platform_code: String(platformCode) },
      });
    // It was ordered before platform knew that an equal one had been executed.
    case "possible_duplicate":
      return refuse(
        "possible_duplicate",
        "An equal operation was executed before the database was restored to an older time. Nothing was executed now.",
        { outcome: "not_executed" },
      );
    default:
      return refuse(
        "platform_unavailable",
        "The trading platform did not execute the operation in time. Nothing was executed.",
        { outcome: "not_executed" },
      );
  }
}
