const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** The longest period of one request. */
const MAX_DAYS = 366;
/** A mistyped year asks for no more requests than these. */
const MAX_PIECES = 20;

/** Days in UTC; `to` is the day after the last one. */
export type Period = { readonly from: string; readonly to: string };

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The last days, today included. */
export function lastDays(days: number, nowMs: number): Period {
  return { from: dayOf(nowMs - (days - 1) * DAY_MS), to: dayOf(nowMs + DAY_MS) };
}

/** As the address has it. What is no day, or no period, is the given one. */
export function periodOf(query: URLSearchParams, otherwise: Period): Period {
  const [from, to] = [query.get("from") ?? otherwise.from, query.get("to") ?? otherwise.to];
  if (!isDay(from) || !isDay(to) || from >= to) return otherwise;
  const first = dayOf(Date.parse(to) - MAX_PIECES * MAX_DAYS * DAY_MS);
  return { from: from < first ? first : from, to };
}

/** As the API asks for it: instants of a period of days. */
export function instantsOf({ from, to }: Period): Period {
  return { from: `${from}T00:00:00`, to: `${to}T00:00:00` };
}

function isDay(text: string): boolean {
  return DAY.test(text) && !Number.isNaN(Date.parse(text));
}

/** The period in pieces of which each is short enough for one request. */
export function piecesOf({ from, to }: Period): Period[] {
  const end = Date.parse(to);
  const pieces: Period[] = [];
  for (let begin = Date.parse(from); begin < end; begin += MAX_DAYS * DAY_MS) {
    pieces.push({ from: dayOf(begin), to: dayOf(Math.min(end, begin + MAX_DAYS * DAY_MS)) });
  }
  return pieces;
}

/** The Monday of the week of a day: fee weeks begin with it. */
export function mondayOf(day: string): string {
  const ms = Date.parse(day);
  return dayOf(ms - ((new Date(ms).getUTCDay() + 6) % 7) * DAY_MS);
}
