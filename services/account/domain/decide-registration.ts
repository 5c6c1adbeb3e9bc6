import type { FieldError } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** What is known of a login that somebody wants to register. */
export type RegistrationFacts = {
  readonly field: string;
  readonly login: string;
  /** The role it has here; PENDING while it is being created. */
  readonly role: "MASTER" | "PAYMENT" | "INVESTOR" | "PENDING" | undefined;
  readonly existsOnPlatform: boolean;
};

/** One login has one role for ever; registering it under the same one again is a mistake of another kind. */
export function decideTradingLogin({ login, role }: RegistrationFacts, wanted: "MASTER" | "INVESTOR"): void {
  if (role === wanted) {
    throw refuse("login_already_registered", `login ${login} is registered already`, { outcome: "not_executed" });
  }
  if (role !== undefined) {
    throw refuse("login_in_use", `login ${login} is in use in another role`, { outcome: "not_executed" });
  }
}

export function decidePaymentLogin({ login, role }: RegistrationFacts): void {
  if (role === "PAYMENT") {
    throw refuse("payment_account_in_use", `payment account ${login} is assigned to another Master`, {
      outcome: "not_executed",
    });
  }
  if (role !== undefined) {
    throw refuse("login_in_use", `login ${login} is in use in another role`, { outcome: "not_executed" });
  }
}

/** Names every login that the platform does not show us. */
export function decideExistence(facts: readonly RegistrationFacts[]): void {
  const errors: FieldError[] = facts
    .filter(({ existsOnPlatform }) => !existsOnPlatform)
    .map(({ field, login }) => ({
      field,
      code: "platform_account_not_found",
      message: `the trading platform has no account ${login}`,
    }));
  if (errors.length > 0) {
    const message = errors.map((error) => error.message).join("; ");
    throw refuse("platform_account_not_found", message, { errors, outcome: "not_executed" });
  }
}
