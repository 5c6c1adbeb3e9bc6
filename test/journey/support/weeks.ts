import { setTimeout as sleep } from "node:timers/promises";
import type { RunningSystem } from "./system.ts";

/** The clock of the machine is the same for everybody; the simulator's server only has another zone. */
const INTO_THE_WEEK_MS = 100;

/** Waits until a week has just begun, so that all of it lies ahead; answers its cut-off. */
export async function untilNextWeek(system: RunningSystem): Promise<number> {
  const { feePeriodMs, feeAnchor } = system.told();
  const now = Date.now();
  const begin = now + feePeriodMs - ((now - Date.parse(feeAnchor)) % feePeriodMs);
  await sleep(begin + INTO_THE_WEEK_MS - now);
  return begin + feePeriodMs;
}
