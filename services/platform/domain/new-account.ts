import type { FieldError } from "#kernel/refusal.ts";
import { MAX_LEVERAGE } from "#kernel/limits.ts";
import { refuse } from "../refusals.ts";
import { isRequestKey, MAX_KEY_LENGTH } from "./request-key.ts";
import type { Role } from "./role.ts";

export type AllowedGroups = {
  readonly masterGroups: readonly string[];
  readonly investorGroups: readonly string[];
  readonly paymentGroup: string;
};

const ROLE_NAMES: Readonly<Record<Role, string>> = { master: "Master", investor: "Investor", payment: "payment" };

/** Returns the platform group for a new account of this role. Group names are case-sensitive. */
export function decideGroup(role: Role, requested: string, groups: AllowedGroups): string {
  if (role === "payment" && requested === "") return groups.paymentGroup;
  const allowed = {
    master: groups.masterGroups,
    investor: groups.investorGroups,
    payment: [groups.paymentGroup],
  }[role];
  if (!allowed.includes(requested)) {
    const message = `Group '${requested}' is not allowed for ${ROLE_NAMES[role]} accounts. Allowed: ${allowed.join(", ")}.`;
    throw refuse("group_not_allowed", message, { outcome: "not_executed" });
  }
  return requested;
}

/** Refuses invalid input; the refusal lists all errors. */
export function checkNewAccount(account: { readonly key: string; readonly leverage: number }): void {
  const errors: FieldError[] = [];
  if (!isRequestKey(account.key)) {
    errors.push({
      field: "key",
      code: "format",
      message: `key must have 1 to ${MAX_KEY_LENGTH} visible ASCII characters.`,
    });
  }
  if (!Number.isInteger(account.leverage) || account.leverage < 1 || account.leverage > MAX_LEVERAGE) {
    errors.push({
      field: "leverage",
      code: "range",
      message: `leverage must be a whole number from 1 to ${MAX_LEVERAGE}.`,
    });
  }
  if (errors.length > 0) {
    throw refuse("validation_failed", "The account is invalid.", { errors, outcome: "not_executed" });
  }
}
