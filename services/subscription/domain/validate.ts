import type { FieldError, Refusal } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";

/** The error of one field; undefined when the field is valid. */
export type Check = FieldError | undefined;

const MAX_PPM = 1_000_000;
const LOGIN = /^\d{1,20}$/;

/** Refuses with the errors of all fields at once. */
export function validate(...checks: readonly Check[]): void {
  const errors = checks.filter((check) => check !== undefined);
  if (errors.length > 0) throw validationFailed(errors);
}

export function isLogin(field: string, login: string): Check {
  return LOGIN.test(login) ? undefined : wrong(field, "invalid_login", "must be a login of decimal digits");
}

export function isRate(field: string, ppm: number): Check {
  return ppm >= 0 && ppm <= MAX_PPM ? undefined : wrong(field, "out_of_range", "must be from 0 to 1");
}

export function isBetween(field: string, value: number | bigint, min: number, max: number): Check {
  return value >= min && value <= max ? undefined : wrong(field, "out_of_range", `must be from ${min} to ${max}`);
}

export function isPresent(field: string, text: string): Check {
  return text === "" ? wrong(field, "required", "is required") : undefined;
}

export function isNotNegative(field: string, value: bigint): Check {
  return value < 0n ? wrong(field, "out_of_range", "must not be negative") : undefined;
}

export function wrong(field: string, code: string, problem: string): FieldError {
  return { field, code, message: `${field} ${problem}.` };
}

function validationFailed(errors: readonly FieldError[]): Refusal {
  return refuse("validation_failed", "The request is invalid.", { errors, outcome: "not_executed" });
}
