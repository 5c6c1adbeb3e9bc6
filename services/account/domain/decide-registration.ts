import type { FieldError } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** What is known of a login that a caller wants to register. */
export type RegistrationFacts = {
  readonly field: string;
  readonly login: string;
  /** The role that the service recorded; PENDING while the account is being created. */
  readonly role: "MASTER" | "PAYMENT" | "INVESTOR" | "PENDING" | undefined;
  readonly existsOnPlatform: boolean;
};

export const ROLE_NAMES: Readonly<Record<NonNullable<RegistrationFacts["role"]>, string>> = {
  MASTER: "a Master account",
  PAYMENT: "a payment account",
  INVESTOR: "an Investor account",
  PENDING: "being created",
};

/** One login has one role for ever; a second registration in the same role has a refusal code of its own. */
export function decideTradingLogin({ login, role }: RegistrationFacts, wanted: "MASTER" | "INVESTOR"): void {
  if (role === wanted) {
    throw refuse("login_already_registered", `Login ${login} is already registered as ${ROLE_NAMES[role]}.`, {
      outcome: "not_executed",
    });
  }
  if (role !== undefined) {
    throw refuse("login_in_use", `Login ${login} is in use: it is ${ROLE_NAMES[role]}.`, { outcome: "not_executed" });
  }
}

export function decidePaymentLogin({ login, role }: RegistrationFacts): void {
  if (role === "PAYMENT") {
    throw refuse("payment_account_in_use", `Payment account ${login} is already assigned to another Master.`, {
      outcome: "not_executed",
    });
  }
  if (role !== undefined) {
    throw refuse("login_in_use", `Login ${login} is in use: it is ${ROLE_NAMES[role]}.`, { outcome: "not_executed" });
  }
}

/** Names every login that does not exist on the trading platform. */
export function decideExistence(facts: readonly RegistrationFacts[]): void {
  const errors: FieldError[] = facts
    .filter(({ existsOnPlatform }) => !existsOnPlatform)
    .map(({ field, login }) => ({
      field,
      code: "platform_account_not_found",
      message: `${field} ${login} does not exist on the trading platform.`,
    }));
  if (errors.length > 0) {
    const logins = facts.filter(({ existsOnPlatform }) => !existsOnPlatform).map(({ login }) => login);
    const message = `Not found on the trading platform: ${logins.join(", ")}.`;
    throw refuse("platform_account_not_found", message, { errors, outcome: "not_executed" });
  }
}
