import { MAX_PLATFORM_TEXT_LENGTH } from "#kernel/values/platform-text.ts";
import type { FieldError } from "#kernel/values/refusal.ts";
import { MAX_NAME_LENGTH } from "../../fields/checks.ts";
import { read, text } from "../../fields/field.ts";
import { at, optional } from "../../fields/message.ts";
import { parseTimestamp } from "../../wire/timestamp.ts";
import { externalIdFilter } from "./labels.ts";
import { INSTANT, loginField } from "./request-fields.ts";

/** The two ends of a half-open period of what a list is filtered by. */
export const fromField = (what: string) =>
  instant(`Only items ${what} at this instant or later`, "2026-01-01T00:00:00Z");
export const toField = (what: string) => instant(`Only items ${what} before this instant`, "2026-02-01T00:00:00Z");

function instant(description: string, example: string) {
  const about = { description: `${description}: ISO 8601, UTC without an offset.`, example, shown: INSTANT };
  return read(text("datetime", about), parseTimestamp);
}

/** A check of a query: an empty period would look like an empty list. Fields that are invalid by themselves are reported by their checks. */
export function isPeriod<From extends string, To extends string>(fromName: From, toName: To) {
  return ({ query }: { readonly query: { readonly [Name in From | To]?: string } }): readonly FieldError[] => {
    const [from, to] = [parseTimestamp(query[fromName] ?? ""), parseTimestamp(query[toName] ?? "")];
    if (from === undefined || to === undefined || from < to) return [];
    return [{ field: toName, code: "out_of_range", message: `${toName} must be after ${fromName}.` }];
  };
}

/** Of a list of accounts. */
export const accountFilter = {
  mt5_login: optional(at("login", loginField("Only the account with this login.", "investor"))),
  name: optional(
    text("name", {
      description: "Only accounts with this name, in any case.",
      example: "Ada",
      shown: { minLength: 1, maxLength: MAX_NAME_LENGTH },
    }),
  ),
  email: optional(
    text("email", {
      description: "Only accounts whose holder has this e-mail address, in any case.",
      example: "ada@example.com",
      shown: { format: "email", maxLength: MAX_PLATFORM_TEXT_LENGTH },
    }),
  ),
  external_id: externalIdFilter,
  created_from: optional(fromField("that were created or registered")),
  created_to: optional(toField("that were created or registered")),
};
