import { DAY_MS } from "#kernel/duration.ts";
import type { FieldError } from "#kernel/refusal.ts";
import type { Cursor } from "../wire/cursor.ts";
import { parseTimestamp } from "../wire/timestamp.ts";
import { text } from "./field.ts";
import { pageAt } from "./page.ts";
import { INSTANT } from "./request-fields.ts";

/** The longest period of one request. */
export const MAX_PERIOD_DAYS = 366;

const instant = (description: string, example: string) =>
  text("datetime", { description: `${description} UTC without an offset.`, example, shown: INSTANT });

export const periodFrom = instant("Begin of the period.", "2026-01-01T00:00:00");
export const periodTo = instant("End of the period, exclusive.", "2026-02-01T00:00:00");

const day = (description: string, example: string) => text("day", { description, example, shown: { format: "date" } });

export const firstDay = day("First day, UTC.", "2026-01-01");
export const endDay = day("End of the period: the day after the last one, UTC.", "2026-02-01");

type Period = { readonly from?: string | undefined; readonly to?: string | undefined };

export function periodOf({ from, to }: Period): { readonly from: Date | undefined; readonly to: Date | undefined } {
  return { from: instantOf(from), to: instantOf(to) };
}

type PageQuery = Period & { readonly cursor?: string | undefined };

/** A page of what an account has in a period. */
export function pageOfPeriod<Place>(cursors: Cursor<Place>, list: string, login: string, query: PageQuery) {
  const { from, to, cursor } = query;
  return pageAt(cursors, `${list}?${JSON.stringify([login, from, to])}`, cursor);
}

function instantOf(given: string | undefined): Date | undefined {
  if (given === undefined) return undefined;
  return parseTimestamp(given.includes("T") ? given : `${given}T00:00`);
}

/** A period has to have a length, and where everything in it is read at once, not too much of it. */
export function periodErrors(period: Period, maxDays?: number): readonly FieldError[] {
  const { from, to } = periodOf(period);
  if (from === undefined || to === undefined) return [];
  if (from >= to) return [{ field: "to", code: "out_of_range", message: "to must be later than from." }];
  if (maxDays === undefined || to.getTime() - from.getTime() <= maxDays * DAY_MS) return [];
  return [{ field: "to", code: "out_of_range", message: `to must be at most ${maxDays} days after from.` }];
}
