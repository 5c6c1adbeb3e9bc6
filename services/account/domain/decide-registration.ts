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
export function decideRole({ login, role }: RegistrationFacts, wanted: "MASTER" | "PAYMENT" | "INVESTOR"): void {
  if (role === undefined) return;
  if (role !== wanted) {
    throw refuse("login_in_use", `Login ${login} is in use: it is ${ROLE_NAMES[role]}.`, { outcome: "not_executed" });
  }
  if (role === "PAYMENT") throw paymentAccountInUse(login);
  const message = `Login ${login} is already registered as ${ROLE_NAMES[role]}.`;
  throw refuse("login_already_registered", message, { outcome: "not_executed" });
}

export function paymentAccountInUse(login: string): Error {
  const message = `Payment account ${login} is already assigned to another Master.`;
  return refuse("payment_account_in_use", message, { outcome: "not_executed" });
}

/** Names every login that does not exist on the trading platform. */
export function decideExistence(facts: readonly RegistrationFacts[]): void {
  const missing = facts.filter(({ existsOnPlatform }) => !existsOnPlatform);
  if (missing.length === 0) return;
  const code = "platform_account_not_found";
  const errors = missing.map(({ field, login }) => ({
    field,
    code,
    message: `${field} ${login} does not exist on the trading platform.`,
  }));
  const logins = missing.map(({ login }) => login);
  const message = `Not found on the trading platform: ${logins.join(", ")}.`;
  throw refuse(code, message, { errors, outcome: "not_executed" });
}
