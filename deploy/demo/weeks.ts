import { setTimeout as sleep } from "node:timers/promises";

/** Fee weeks of a system: one ends at every multiple of the period after the anchor. */
export type Weeks = { readonly periodMs: number; readonly anchor: number };

/** Above this nobody wants to wait for the end of one. */
const SHORT_MS = 60_000;
/** Just after a cut-off and not just before it, whatever a timer does. */
const SURELY_MS = 50;

export function areShort({ periodMs }: Weeks): boolean {
  return periodMs <= SHORT_MS;
}

/** Ends of weeks after an instant, up to and with another one. */
export function cutOffsBetween({ periodMs, anchor }: Weeks, after: number, through: number): number[] {
  const first = after + periodMs - positive((after - anchor) % periodMs, periodMs);
  const count = Math.max(0, Math.floor((through - first) / periodMs) + 1);
  return Array.from({ length: count }, (_, index) => first + index * periodMs);
}

/** Waits until the running week is over; answers its cut-off. */
export async function untilCutOff(weeks: Weeks): Promise<number> {
  const now = Date.now();
  const [cutOff = now] = cutOffsBetween(weeks, now, now + weeks.periodMs);
  await sleep(cutOff + SURELY_MS - now);
  return cutOff;
}

/** Waits for the next week when this one has not so much time left; a week that is shorter than that is taken as it is. */
export async function roomFor(weeks: Weeks, ms: number): Promise<void> {
  if (!hasRoom(weeks, ms)) await untilCutOff(weeks);
}

export function hasRoom(weeks: Weeks, ms: number): boolean {
  const now = Date.now();
  return ms >= weeks.periodMs || cutOffsBetween(weeks, now, now + ms).length === 0;
}

/** The remainder of a division has the sign of what is divided. */
function positive(rest: number, divisor: number): number {
  return rest < 0 ? rest + divisor : rest;
}
