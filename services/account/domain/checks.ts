import { MAX_LEVERAGE } from "#kernel/values/limits.ts";
import { MAX_AMOUNT } from "#kernel/values/money.ts";
import { platformTextError } from "#kernel/values/platform-text.ts";
import type { FieldError, Refusal } from "#kernel/values/refusal.ts";
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
  if (email === undefined) return undefined;
  return /^[^\s@]+@[^\s@]+$/.test(email)
    ? platformTextError(field, email)
    : { field, code: "malformed", message: `${field} must be an e-mail address.` };
}

/** Of the owner of a new account, whom the trading platform knows too. */
export function ownerErrors(owner: { firstName: string; lastName: string; username: string }) {
  const { firstName, lastName, username } = owner;
  return [
    nameError("first_name", firstName) ?? platformTextError("first_name", firstName),
    nameError("last_name", lastName) ?? platformTextError("last_name", lastName),
    emailError("username", username),
  ];
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

/** A description has lines. */
export function linesError(field: string, text: string | undefined): FieldError | undefined {
  return textError(field, text?.replaceAll("\n", " "));
}

/** In cents. */
export function minDepositError(minDeposit = 0n): FieldError | undefined {
  if (minDeposit >= 0n && minDeposit <= MAX_AMOUNT.minor) return undefined;
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

export function paymentEqualsMaster(login: string): Refusal {
  const [code, message] = [
    "payment_account_equals_master",
    `payment_account_login must differ from the trading login ${login}.`,
  ] as const;
  const errors = [{ field: "payment_account_login", code, message }];
  return refuse(code, message, { errors, outcome: "not_executed" });
}
