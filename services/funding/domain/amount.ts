import { labelErrors, type Labels } from "#kernel/values/labels.ts";
import { MAX_COMMENT_LENGTH } from "#kernel/values/limits.ts";
import { formatDecimal, MAX_AMOUNT, MIN_AMOUNT } from "#kernel/values/money.ts";
import { queueErrors } from "#catalogue/queue-until-flat.ts";
import type { FieldError } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";

export type RequestedMovement = {
  readonly operationId?: string;
  /** Cents. */
  readonly amount: bigint;
  readonly comment: string;
  readonly labels: Labels | undefined;
  /** Undefined for one that does not wait until the Master is flat. */
  readonly queueForMs?: bigint | undefined;
};

/** Throws one refusal with all invalid fields of a request to move money. A preview has no operation. */
export function checkMovement({ operationId, amount, comment, labels, queueForMs }: RequestedMovement): void {
  const errors: FieldError[] = [];
  if (operationId === "") {
    errors.push({ field: "command_id", code: "required", message: "command_id is required to move money." });
  }
  if (amount < MIN_AMOUNT.minor || amount > MAX_AMOUNT.minor) {
    const range = `from ${formatDecimal(MIN_AMOUNT)} to ${formatDecimal(MAX_AMOUNT)}`;
    errors.push({ field: "amount", code: "out_of_range", message: `amount must be ${range}.` });
  }
  if ([...comment].length > MAX_COMMENT_LENGTH) {
    const message = `comment must have at most ${MAX_COMMENT_LENGTH} characters.`;
    errors.push({ field: "comment", code: "too_long", message });
  }
  errors.push(...queueErrors(queueForMs), ...labelErrors(labels));
  if (errors.length === 0) return;
  throw refuse("validation_failed", "The request is invalid.", { errors, outcome: "not_executed" });
}
