import { HOUR_MS } from "#kernel/values/duration.ts";
import { isOfOpenSession, isRecent, type WeekOfSessions } from "../../services/platform/domain/price-age.ts";
import { proveMaster } from "../../services/subscription/domain/proof.ts";
import { dollars } from "./engine/cents.ts";
import { shownOf } from "./engine/own-capital.ts";
import type { World } from "./engine/world.ts";

const MAX_AGE_MS = HOUR_MS;
const DAYS_OF_WEEK = 7;
const ALWAYS_OPEN: WeekOfSessions = Array.from({ length: DAYS_OF_WEEK }, () => [{ open: 0, close: 1_440 }]);
const CLOSED: WeekOfSessions = Array.from({ length: DAYS_OF_WEEK }, () => []);

/** Throws when the proof of a Master shows its own capital otherwise than the reference. */
export function expectProven({ masters }: World): void {
  for (const master of masters) {
    const { name, pool, moved: external, acknowledged, balance: platform } = master;
    const { pooled, waiting } = pool.cash("own");
    const money = { own: pooled + waiting, external, acknowledged, imported: 0n, unallocated: 0n };
    const real = proveMaster(name, money, [], { platform, lastDealId: 0n });
    const exact = shownOf(master);
    if (real.quarantined === exact.quarantined && real.ownCapital === exact.own) continue;
    const shown = `${dollars(real.quarantined)} and ${dollars(real.ownCapital)}`;
    throw new Error(
      `the proof of ${name} shows ${shown}, and ${dollars(exact.quarantined)} and ${dollars(exact.own)} by the reference`,
    );
  }
}

/** Throws when the price of a position is a mark for one side only. An old one came before its session was closed. */
export function expectMarked({ masters, now }: World): void {
  const at = (ms: number) => ({ at: new Date(ms), serverMs: ms });
  for (const { name, floating, stale } of masters) {
    for (const position of floating.keys()) {
      const isOld = stale.has(position);
      const tick = at(isOld ? now - MAX_AGE_MS - 1 : now);
      const isMark =
        isRecent(tick, at(now), MAX_AGE_MS) || isOfOpenSession(tick, at(now), isOld ? CLOSED : ALWAYS_OPEN);
      if (isMark !== isOld) continue;
      throw new Error(
        `the price of ${position} at ${name} is ${isMark ? "a mark" : "too old"}, unlike by the reference`,
      );
    }
  }
}
