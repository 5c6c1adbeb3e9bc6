import type { Random } from "../world/random.ts";
import type { Fault } from "./plan.ts";

export type ServerFaultContext = {
  readonly busyMs: number;
  readonly hasPools: boolean;
  readonly logins: readonly string[];
};

/** The share of histories with each fault; they are drawn apart, so that the other faults of a seed do not change. */
const SHARES = { rewind: 0.06, clock: 0.03, unreadable: 0.06 };
/** The share of rewinds that are followed by another one, while what was lost is being imported, or operators have just resumed. */
const AGAIN = 0.4;
const AGAIN_AFTER_MS = [1_000, 30_000] as const;
/** Nothing is lost when only the server has restarted. */
const LOST_MS = [0, 5, 60, 400, 1_500, 4_000, 9_000];
/** Postgres logs sequences in steps of 32. */
const SEQUENCES_AHEAD = [0, 1, 7, 32];
const MAX_UNREADABLE_MS = 30_000;
const DOWN_MS = [200, 1_000, 3_000];
const CLOCK_STEPS_MS = [-60_000, -2_000, 2_000, 60_000, 600_000];

/** The shares of histories with the rules of the market in which it closes, or margin is scarce. */
const OF_MARKET = { closed: 0.4, scarce: 0.4 };
const MIN_HELD_MS = 6_000;
const MAX_HELD_MS = 9_000;

/** Investors are in the pools by then, and the position is closed before faults end. */
export function makeMarketFaults(
  random: Random,
  { busyMs, logins }: Omit<ServerFaultContext, "hasPools">,
): readonly Fault[] {
  const share = random.next();
  if (share >= OF_MARKET.closed + OF_MARKET.scarce) return [];
  const kind = share < OF_MARKET.closed ? "closed_market" : "scarce_margin";
  const atMs = Math.round(busyMs * (0.3 + 0.2 * random.next()));
  return [{ kind, atMs, forMs: random.whole(MIN_HELD_MS, MAX_HELD_MS), login: random.pick(logins) }];
}

function rewindAt(random: Random, atMs: number): Fault {
  return {
    kind: "rewind_database",
    atMs,
    losesLastMs: random.pick(LOST_MS),
    downMs: random.pick(DOWN_MS),
    sequencesAhead: random.pick(SEQUENCES_AHEAD),
    restarts: random.chance(0.5),
  };
}

/** Faults of one kind of the machine with the databases, or of the rows of one account at the platform. */
export function makeServerFaults(random: Random, { busyMs, hasPools, logins }: ServerFaultContext): readonly Fault[] {
  const share = random.next();
  const atMs = Math.round(busyMs * (0.1 + 0.9 * random.next()));
  if (share < SHARES.rewind) {
    const first = rewindAt(random, atMs);
    return random.chance(AGAIN) ? [first, rewindAt(random, atMs + random.whole(...AGAIN_AFTER_MS))] : [first];
  }
  if (share < SHARES.rewind + SHARES.clock) {
    return [{ kind: "database_clock", atMs, byMs: random.pick(CLOCK_STEPS_MS) }];
  }
  if (share >= SHARES.rewind + SHARES.clock + SHARES.unreadable) return [];
  const isForEver = !hasPools && random.chance(0.4);
  const forMs = isForEver ? Infinity : Math.round(Math.min(MAX_UNREADABLE_MS * random.next(), busyMs - atMs));
  return [{ kind: "unreadable_account", atMs, forMs, login: random.pick(logins) }];
}
