import { HOUR_MS } from "#kernel/values/duration.ts";
import { aWorld, passTime, type World } from "./world.ts";

/** The wait after a cut-off until a week of one hour is closed. */
export const WAIT_MS = 6_000;

/** Weeks of an hour; the next cut-off is half an hour away. */
export async function aWorldWithHourlyWeeks(): Promise<{ world: World; cutOff: (index: number) => Date }> {
  const first = Date.now() + HOUR_MS / 2;
  const world = await aWorld({ week: { anchor: new Date(first), periodMs: HOUR_MS } });
  return { world, cutOff: (index) => new Date(first + index * HOUR_MS) };
}

export function before(cutOff: Date, ms = 1): Date {
  return new Date(cutOff.getTime() - ms);
}

export async function passTimeTo(world: World, instant: Date, waitMs = WAIT_MS): Promise<void> {
  await passTime(world, instant.getTime() - world.deps.now().getTime() + waitMs);
}
