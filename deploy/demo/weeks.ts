import { setTimeout as sleep } from "node:timers/promises";

/** Fee weeks of a system: one ends at every multiple of the period after the anchor. */
export type Weeks = { readonly periodMs: number; readonly anchor: number };

/** The demo waits for the end of a week only up to this length. */
const SHORT_MS = 60_000;
/** A margin, because a timer may fire early. */
const TIMER_MARGIN_MS = 50;

export function areShort({ periodMs }: Weeks): boolean {
  return periodMs <= SHORT_MS;
}

/** Ends of weeks after one instant, up to and including another. */
export function cutOffsBetween({ periodMs, anchor }: Weeks, after: number, through: number): number[] {
  const first = after + periodMs - positive((after - anchor) % periodMs, periodMs);
  const count = Math.max(0, Math.floor((through - first) / periodMs) + 1);
  return Array.from({ length: count }, (_, index) => first + index * periodMs);
}

/** Waits until the current week is over; returns its cut-off. */
export async function untilCutOff(weeks: Weeks): Promise<number> {
  const now = Date.now();
  const [cutOff = now] = cutOffsBetween(weeks, now, now + weeks.periodMs);
  await sleep(cutOff + TIMER_MARGIN_MS - now);
  return cutOff;
}

/** Waits for the next week when the current one ends within this time, unless every week is shorter than that. */
export async function untilTimeFor(weeks: Weeks, ms: number): Promise<void> {
  if (!hasTimeFor(weeks, ms)) await untilCutOff(weeks);
}

export function hasTimeFor(weeks: Weeks, ms: number): boolean {
  const now = Date.now();
  return ms >= weeks.periodMs || cutOffsBetween(weeks, now, now + ms).length === 0;
}

/** The operator % returns the sign of the dividend. */
function positive(rest: number, divisor: number): number {
  return rest < 0 ? rest + divisor : rest;
}
