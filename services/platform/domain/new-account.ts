import type { FieldError } from "#kernel/values/refusal.ts";
import { MAX_LEVERAGE } from "#kernel/values/limits.ts";
import { platformTextError } from "#kernel/values/platform-text.ts";
import { refuse } from "../refusals.ts";
import { isRequestKey, MAX_KEY_LENGTH } from "./request-key.ts";
import type { Role } from "./role.ts";

export type AllowedGroups = {
  readonly masterGroups: readonly string[];
  readonly investorGroups: readonly string[];
  readonly paymentGroup: string;
};

/** The highest leverage of new accounts, and of the groups that have a limit of their own. */
export type LeverageLimits = {
  readonly maxLeverage: number;
  readonly maxLeverageOfGroup: ReadonlyMap<string, number>;
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

/**
 * The leverage of a new account in the group. A payment account has the leverage of its Master and must not trade, so its leverage is
 * reduced to the limit. So is that of an account that may exist already.
 */
export function decideLeverage(
  {
    role,
    group,
    leverage,
    isSent,
  }: { readonly role: Role; readonly group: string; readonly leverage: number; readonly isSent: boolean },
  { maxLeverage, maxLeverageOfGroup }: LeverageLimits,
): number {
  const limit = maxLeverageOfGroup.get(group) ?? maxLeverage;
  if (leverage <= limit) return leverage;
  if (role === "payment" || isSent) return limit;
  const message = `leverage must be from 1 to ${limit} in group ${group}.`;
  const errors = [{ field: "leverage", code: "out_of_range", message }];
  throw refuse("validation_failed", message, { errors, outcome: "not_executed" });
}

export type NewAccount = {
  readonly key: string;
  readonly leverage: number;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
};

/** Refuses invalid input; the refusal lists all errors. */
export function checkNewAccount(account: NewAccount): void {
  const errors: FieldError[] = [
    platformTextError("first_name", account.firstName),
    platformTextError("last_name", account.lastName),
    platformTextError("email", account.email),
  ].filter((error) => error !== undefined);
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
      code: "out_of_range",
      message: `leverage must be a whole number from 1 to ${MAX_LEVERAGE}.`,
    });
  }
  if (errors.length > 0) {
    throw refuse("validation_failed", "The account is invalid.", { errors, outcome: "not_executed" });
  }
}
