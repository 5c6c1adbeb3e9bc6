import { Outcome, type Error as Reason, RefusalStatus } from "#proto/pamm/common/v1/error.ts";

/** Instants, amounts and tickets that services answer in tests, and how they are written. */
export const AT = new Date("2026-01-02T03:04:05.678Z");
export const LATER = new Date("2026-02-03T04:05:06.789Z");
export const AT_TEXT = "2026-01-02T03:04:05.678000";
export const LATER_TEXT = "2026-02-03T04:05:06.789000";

/** Larger than the integers that a float represents exactly. */
export const LARGE = 9_007_199_254_740_993n;

export const cents = (minorUnits: bigint) => ({ currencyCode: "USD", minorUnits });

/** A reason for which a command would be refused. */
export function aReason(code: string, message: string, details: Readonly<Record<string, string>> = {}): Reason {
  const rest = { errors: [], operationId: "", retryAfterMs: 0n, outcome: Outcome.NOT_EXECUTED };
  return { code, message, status: RefusalStatus.CONFLICT, details, ...rest };
}

/** A message like this one but for some members. */
export const sample =
  <Message extends object>(standard: Message) =>
  (others: Partial<Message> = {}): Message => ({ ...standard, ...others });
