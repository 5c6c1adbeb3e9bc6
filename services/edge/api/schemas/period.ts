import type { FieldError } from "#kernel/refusal.ts";
import { parseTimestamp } from "../../wire/timestamp.ts";
import { text } from "../../fields/field.ts";
import { INSTANT } from "./request-fields.ts";

/** The two ends of a half-open period of what a list is filtered by. */
export const fromField = (what: string) =>
  instant(`Only items ${what} at this instant or later`, "2026-01-01T00:00:00Z");
export const toField = (what: string) => instant(`Only items ${what} before this instant`, "2026-02-01T00:00:00Z");

function instant(description: string, example: string) {
  return text("datetime", { description: `${description}: ISO 8601, UTC without an offset.`, example, shown: INSTANT });
}

/** Undefined for a field that was left out. */
export function instantOf(value: string | undefined): Date | undefined {
  return value === undefined ? undefined : parseTimestamp(value);
}

type End = readonly [name: string, value: string | undefined];

/** An empty period would look like an empty list. Fields that are invalid by themselves are reported by their checks. */
export function periodErrors([fromName, from]: End, [toName, to]: End): readonly FieldError[] {
  const [begin, end] = [instantOf(from), instantOf(to)];
  if (begin === undefined || end === undefined || begin < end) return [];
  return [{ field: toName, code: "out_of_range", message: `${toName} must be after ${fromName}.` }];
}
