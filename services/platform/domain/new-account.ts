import type { FieldError } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";
import type { Role } from "./role.ts";

export type AllowedGroups = {
  readonly masterGroups: readonly string[];
  readonly investorGroups: readonly string[];
  readonly paymentGroup: string;
};

const MAX_KEY_LENGTH = 200;
const MAX_LEVERAGE = 500;
const ROLE_NAMES: Readonly<Record<Role, string>> = { master: "Master", investor: "Investor", payment: "payment" };
const KEY = /^[\x21-\x7e]+$/;

/** The group in which an account of this role may be created. Case matters: two that differ in case are two. */
export function decideGroup(role: Role, asked: string, groups: AllowedGroups): string {
  if (role === "payment" && asked === "") return groups.paymentGroup;
  const allowed = {
    master: groups.masterGroups,
    investor: groups.investorGroups,
    payment: [groups.paymentGroup],
  }[role];
  if (!allowed.includes(asked)) {
    const message = `Group '${asked}' is not allowed for ${ROLE_NAMES[role]} accounts. Allowed: ${allowed.join(", ")}.`;
    throw refuse("group_not_allowed", message, { outcome: "not_executed" });
  }
  return asked;
}

/** What no account could be created with, all at once. */
export function checkNewAccount(account: { readonly key: string; readonly leverage: number }): void {
  const errors: FieldError[] = [];
  if (account.key.length > MAX_KEY_LENGTH || !KEY.test(account.key)) {
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
