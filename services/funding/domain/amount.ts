import { MAX_TRANSFER_MINOR, formatDecimal, isLess, usd, type Money } from "#kernel/money.ts";
import type { FieldError } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

export const LEAST_AMOUNT = usd(1n);
export const MOST_AMOUNT = usd(MAX_TRANSFER_MINOR);
export const LONGEST_COMMENT = 255;

export type RequestedMovement = { readonly operationId: string; readonly amount: Money; readonly comment: string };

/** What is wrong with a request to move money, all at once. */
export function checkMovement({ operationId, amount, comment }: RequestedMovement): void {
  const errors: FieldError[] = [];
  if (operationId === "") {
    errors.push({ field: "command_id", code: "required", message: "a command that moves money needs an id" });
  }
  if (isLess(amount, LEAST_AMOUNT) || isLess(MOST_AMOUNT, amount)) {
    const range = `${formatDecimal(LEAST_AMOUNT)} to ${formatDecimal(MOST_AMOUNT)}`;
    errors.push({ field: "amount", code: "out_of_range", message: `amount must be ${range}` });
  }
  if ([...comment].length > LONGEST_COMMENT) {
    errors.push({ field: "comment", code: "too_long", message: `comment has more than ${LONGEST_COMMENT} characters` });
  }
  if (errors.length > 0) {
    throw refuse("validation_failed", "the request is not valid", { errors, outcome: "not_executed" });
  }
}
