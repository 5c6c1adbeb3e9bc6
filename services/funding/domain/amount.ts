import { labelErrors, type Labels } from "#kernel/labels.ts";
import { MAX_COMMENT_LENGTH } from "#kernel/limits.ts";
import { formatDecimal, isLess, MAX_AMOUNT, MIN_AMOUNT, type Money } from "#kernel/money.ts";
import type { FieldError } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

export type RequestedMovement = {
  readonly operationId: string;
  readonly amount: Money;
  readonly comment: string;
  readonly labels: Labels;
};

/** Throws one refusal with all invalid fields of a request to move money. */
export function checkMovement({ operationId, amount, comment, labels }: RequestedMovement): void {
  const errors: FieldError[] = [];
  if (operationId === "") {
    errors.push({ field: "command_id", code: "required", message: "command_id is required to move money." });
  }
  if (isLess(amount, MIN_AMOUNT) || isLess(MAX_AMOUNT, amount)) {
    const range = `from ${formatDecimal(MIN_AMOUNT)} to ${formatDecimal(MAX_AMOUNT)}`;
    errors.push({ field: "amount", code: "out_of_range", message: `amount must be ${range}.` });
  }
  if ([...comment].length > MAX_COMMENT_LENGTH) {
    errors.push({
      field: "comment",
      code: "too_long",
      message: `comment must have at most ${MAX_COMMENT_LENGTH} characters.`,
    });
  }
  errors.push(...labelErrors(labels));
  if (errors.length > 0) {
    throw refuse("validation_failed", "The request is invalid.", { errors, outcome: "not_executed" });
  }
}
