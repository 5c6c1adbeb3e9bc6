import { labelErrors, type Labels } from "#kernel/labels.ts";
import { MAX_COMMENT_LENGTH } from "#kernel/limits.ts";
import { formatDecimal, MAX_AMOUNT, MIN_AMOUNT, type Money, usd } from "#kernel/money.ts";
import { queueErrors } from "#catalogue/queue-until-flat.ts";
import type { FieldError } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

export type RequestedMovement = {
  readonly operationId?: string;
  readonly amount: Money;
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
  if (amount.minor < MIN_AMOUNT.minor || amount.minor > MAX_AMOUNT.minor) {
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

type DepositFacts = {
  /** The Investor was never funded through the service. */
  readonly isFirst: boolean;
  /** Undefined while the Investor follows no Master. */
  readonly masterMinimum: Money | undefined;
};

export type DepositDecision = { readonly firstDepositChecked: boolean; readonly minDeposit: Money };

/**
 * The first deposit under an active Master is looked at, and never refused: the Investor met the minimum when it was assigned, and
 * a minimum that was changed since is for later assignments.
 */
export function decideDeposit({ isFirst, masterMinimum }: DepositFacts): DepositDecision {
  return { firstDepositChecked: isFirst && masterMinimum !== undefined, minDeposit: masterMinimum ?? usd(0n) };
}
