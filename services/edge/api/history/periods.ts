import { DAY_MS } from "#kernel/values/duration.ts";
import type { FieldError } from "#kernel/values/refusal.ts";
import { type Calendar, UTC } from "#kernel/values/time-zone.ts";
import { choice, text } from "../../fields/field.ts";
import type { Deps } from "../../http/route.ts";
import { INSTANT } from "../schemas/request-fields.ts";
import { isInYears, parseTimestamp } from "../../wire/timestamp.ts";

/** The longest period of one request. */
export const MAX_PERIOD_DAYS = 366;
/** The period of a request that does not name both ends. */
export const DEFAULT_PERIOD_DAYS = 30;

const instant = (description: string, example: string) =>
  text("datetime", {
    description: `${description} Without an offset by the clock that \`day\` names.`,
    example,
    shown: INSTANT,
  });

export const periodFrom = instant("Begin of the period.", "2026-01-01T00:00:00");
export const periodTo = instant("End of the period, exclusive.", "2026-02-01T00:00:00");

const day = (description: string, example: string) => text("day", { description, example, shown: { format: "date" } });

export const firstDay = day(`First day. Without it ${DEFAULT_PERIOD_DAYS} days before \`to\`.`, "2026-01-01");
export const endDay = day(
  "End of the period: the day after the last one. Without it the day after today.",
  "2026-02-01",
);

/** Whose days they are. */
export const dayKind = choice(
  {
    utc: "Days and times without an offset are UTC.",
    server: "They are those of the clock of the trade server, with its daylight saving.",
  },
  {
    description: "Whose clock days, and times without an offset, are of. Answers are in UTC either way.",
    example: "utc",
    default: "utc",
  },
);

type Clocks = Pick<Deps, "serverClock">;

type Period = {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly day?: "utc" | "server" | undefined;
};
type Instants = { readonly from: Date | undefined; readonly to: Date | undefined };

export function periodOf({ from, to, day: kind }: Period, clocks: Clocks): Instants {
  const calendar = calendarOf(kind, clocks);
  return { from: instantOf(from, calendar), to: instantOf(to, calendar) };
}

/** Days whose ends may be left out: the period ends with today then, and begins some days before its end. */
export function daysOf({ from, to, day: kind }: Period, clocks: Clocks, now: Date) {
  const end = to ?? dayAfter(calendarOf(kind, clocks).dayOf(now), 1);
  const begin = dayAfter(end, -DEFAULT_PERIOD_DAYS);
  return { from: from ?? (begin < EARLIEST_DAY ? EARLIEST_DAY : begin), to: end, day: kind };
}

const EARLIEST_DAY = "1970-01-01";

export function calendarOf(kind: Period["day"], { serverClock }: Clocks): Calendar {
  return kind === "server" ? (serverClock ?? UTC) : UTC;
}

const OFFSET = /T.*(Z|[+-]\d{2}:?\d{2})$/i;

function instantOf(given: string | undefined, { toInstant }: Calendar): Date | undefined {
  const shown = shownOf(given);
  return shown === undefined || OFFSET.test(given ?? "") ? shown : toInstant(shown);
}

/** As if every clock showed UTC. */
function shownOf(given: string | undefined): Date | undefined {
  if (given === undefined) return undefined;
  return parseTimestamp(isDay(given) ? `${given}T00:00` : given);
}

function isDay(given: string): boolean {
  return given.length === EARLIEST_DAY.length;
}

function dayAfter(day: string, days: number): string {
  const ms = Date.parse(day);
  return Number.isNaN(ms) ? day : new Date(ms + days * DAY_MS).toISOString().slice(0, day.length);
}

/**
 * A period has to have a length, and where everything in it is read at once, not too much of it. Days are counted by the clock: those of a
 * change of daylight saving have another length.
 */
export function periodErrors(period: Period, clocks: Clocks, maxDays?: number): readonly FieldError[] {
  if (period.day === "server" && clocks.serverClock === undefined) {
    const message = "day=server is not possible: the operator has not set MT5_TIME_ZONE.";
    return [{ field: "day", code: "unknown_value", message }];
  }
  const { from, to } = periodOf(period, clocks);
  const outside = [outsideYears("from", period.from, from), outsideYears("to", period.to, to)].flat();
  if (outside.length > 0) return outside;
  if (from === undefined || to === undefined) return [];
  if (from >= to) return [{ field: "to", code: "out_of_range", message: "to must be later than from." }];
  const [begin, end] = [shownOf(period.from) ?? from, shownOf(period.to) ?? to];
  if (maxDays === undefined || end.getTime() - begin.getTime() <= maxDays * DAY_MS) return [];
  return [{ field: "to", code: "out_of_range", message: `to must be at most ${maxDays} days after from.` }];
}

/** A time that another clock shows in these years may be in others in UTC. Days may begin before them. */
function outsideYears(field: string, given: string | undefined, instant: Date | undefined): readonly FieldError[] {
  if (given === undefined || isDay(given) || instant === undefined || isInYears(instant)) return [];
  return [{ field, code: "out_of_range", message: `${field} must be in UTC from 1970 to 9999.` }];
}

/** Of days whose ends may be left out: an end that the caller has not named is not to blame. */
export function daysErrors(query: Period, clocks: Clocks, now: Date, maxDays: number): readonly FieldError[] {
  const errors = periodErrors(daysOf(query, clocks, now), clocks, maxDays);
  if (query.to !== undefined) return errors;
  const message = `Without to, from must be one of the last ${maxDays} days.`;
  return errors.map((error) => (error.field === "to" ? { ...error, field: "from", message } : error));
}
