import { MAX_LEVERAGE } from "#kernel/limits.ts";
import { isLess, MAX_AMOUNT, usd, type Money } from "#kernel/money.ts";
import type { FieldError } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

const LOGIN = /^[1-9]\d{0,18}$/;
const CONTROL = /\p{Cc}/u;

/** Throws one refusal with all invalid fields. The edge validates too, but a caller on NATS may not have. */
export function checkAll(...found: readonly (FieldError | undefined)[]): void {
  const errors = found.filter((error) => error !== undefined);
  if (errors.length > 0) {
    throw refuse("validation_failed", "The request is invalid.", { errors, outcome: "not_executed" });
  }
}

export function emailError(field: string, email: string | undefined): FieldError | undefined {
  const isFine = email === undefined || /^[^\s@]+@[^\s@]+$/.test(email);
  return isFine ? undefined : { field, code: "malformed", message: `${field} must be an e-mail address.` };
}

export function loginError(field: string, login: string): FieldError | undefined {
  return LOGIN.test(login)
    ? undefined
    : { field, code: "invalid_login", message: `${field} must be a positive number without leading zeros.` };
}

export function nameError(field: string, text: string | undefined): FieldError | undefined {
  if (text === undefined) {
    return undefined;
  }
  return text.trim() === ""
    ? { field, code: "required", message: `${field} must not be empty.` }
    : textError(field, text);
}

export function textError(field: string, text: string | undefined): FieldError | undefined {
  const isPlain = text === undefined || !CONTROL.test(text);
  return isPlain
    ? undefined
    : { field, code: "control_characters", message: `${field} must not contain control characters.` };
}

export function minDepositError(minDeposit: Money | undefined): FieldError | undefined {
  if (minDeposit === undefined || !(isLess(minDeposit, usd(0n)) || isLess(MAX_AMOUNT, minDeposit))) {
    return undefined;
  }
  return { field: "min_deposit", code: "out_of_range", message: "min_deposit must be from 0.00 to 1000000000.00." };
}

export function leverageError(leverage: number): FieldError | undefined {
  const isFine = leverage >= 1 && leverage <= MAX_LEVERAGE;
  return isFine
    ? undefined
    : { field: "leverage", code: "out_of_range", message: `leverage must be from 1 to ${MAX_LEVERAGE}.` };
}

export function commandError(commandId: string): FieldError | undefined {
  return commandId === ""
    ? { field: "command_id", code: "required", message: "command_id is required to create accounts." }
    : undefined;
}
