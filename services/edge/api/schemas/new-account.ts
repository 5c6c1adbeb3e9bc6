import { type Static, Type } from "typebox";
import type { ProblemCode } from "../../problems/problems.ts";
import { decimalText } from "../../wire/json-body.ts";
import {
  aliasField,
  DEFAULT_LEVERAGE,
  firstName,
  lastName,
  leverage,
  platformGroup,
  username,
} from "./request-fields.ts";

/** The fields of the body that creates an account. */
export function newAccount(alias: ReturnType<typeof aliasField>, exampleGroup: string) {
  return {
    first_name: firstName,
    last_name: lastName,
    name: alias,
    username,
    platform_group: platformGroup(exampleGroup),
    leverage: Type.Optional(leverage),
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

const Body = Type.Object(newAccount(aliasField("", ""), ""));

export function newAccountRequest(body: Static<typeof Body>) {
  return {
    firstName: body.first_name,
    lastName: body.last_name,
    name: body.name,
    username: body.username,
    platformGroup: body.platform_group,
    leverage: Number(decimalText(body, "leverage") ?? DEFAULT_LEVERAGE),
  };
}
