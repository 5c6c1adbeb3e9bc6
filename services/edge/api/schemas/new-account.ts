import type { ProblemCode } from "../../problems/problems.ts";
import { type aliasField, firstName, lastName, leverage, platformGroup, username } from "./request-fields.ts";

/** The fields of the body that creates an account. */
export function newAccount(alias: ReturnType<typeof aliasField>, exampleGroup: string) {
  return {
    first_name: firstName,
    last_name: lastName,
    name: alias,
    username,
    platform_group: platformGroup(exampleGroup),
    leverage,
  };
}

/** The problems of a route that creates an account. */
export const NEW_ACCOUNT_REFUSALS = [
  "group_not_allowed",
  "currency_not_supported",
  "login_in_use",
  "platform_rejected",
  "platform_unavailable",
  "login_range_exhausted",
] as const satisfies readonly ProblemCode[];
