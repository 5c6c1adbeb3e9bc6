import { HOUR_MS } from "#kernel/duration.ts";
import { isOfOpenSession, isRecent, type WeekOfSessions } from "../../services/platform/domain/price-age.ts";
import type { World } from "./engine/world.ts";

/** The functions under test; a mutant replaces one of them. */
export type TicksUnderTest = {
  readonly isRecent: typeof isRecent;
  readonly isOfOpenSession: typeof isOfOpenSession;
};

export const REAL_TICKS: TicksUnderTest = { isRecent, isOfOpenSession };

const MAX_AGE_MS = HOUR_MS;
const DAYS_OF_WEEK = 7;
const ALWAYS_OPEN: WeekOfSessions = Array.from({ length: DAYS_OF_WEEK }, () => [{ open: 0, close: 1_440 }]);
const CLOSED: WeekOfSessions = Array.from({ length: DAYS_OF_WEEK }, () => []);

/** Throws when the price of a position is a mark for one side only. An old one came before its session was closed. */
export function expectMarked({ masters, now }: World, tested: TicksUnderTest): void {
  const at = (ms: number) => ({ at: new Date(ms), serverMs: ms });
  for (const { name, floating, stale } of masters) {
    for (const position of floating.keys()) {
      const isOld = stale.has(position);
      const tick = at(isOld ? now - MAX_AGE_MS - 1 : now);
      const isMark =
        tested.isRecent(tick, at(now), MAX_AGE_MS) ||
        tested.isOfOpenSession(tick, at(now), isOld ? CLOSED : ALWAYS_OPEN);
      if (isMark !== isOld) continue;
      throw new Error(
        `the price of ${position} at ${name} is ${isMark ? "a mark" : "too old"}, unlike by the reference`,
      );
    }
  }
}
