import { setTimeout as sleep } from "node:timers/promises";
import type { RunningSystem } from "./system.ts";

/** A timer may fire early, and the clocks of two processes differ a little. */
const INTO_THE_WEEK_MS = 100;

/** Waits until a fee week has just begun; returns its cut-off. */
export async function untilNextWeek(system: RunningSystem): Promise<number> {
  const { feePeriodMs, feeAnchor } = system.info();
  const now = Date.now();
  const begin = now + feePeriodMs - ((now - Date.parse(feeAnchor)) % feePeriodMs);
  await sleep(begin + INTO_THE_WEEK_MS - now);
  return begin + feePeriodMs;
}
