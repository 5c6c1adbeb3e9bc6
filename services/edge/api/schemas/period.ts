import type { FieldError } from "#kernel/refusal.ts";
import { parseTimestamp } from "../../wire/timestamp.ts";
import { read, text } from "../../fields/field.ts";
import { INSTANT } from "./request-fields.ts";

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
