import { leaseCandidate } from "#kernel/postgres/lease-candidate.ts";
import type { Deps } from "../deps.ts";
import { batchesOf } from "../mt5/fields.ts";
import { readLogins, REREAD_MS } from "../protocol/history/read-history.ts";
import { AccountReader, type ReadBack } from "../reader/account-reader.ts";

/** A reader that crashed is replaced within five seconds. */
export const READER_LEASE_MS = 5_000;
/** Half of the lease: one renewal may fail. */
const LEASE = { name: "deal-reader", ttlMs: READER_LEASE_MS, renewMs: 2_500, pollMs: 500 };

type Period = ReadBack & { readonly everyMs: number };

/**
 * Periods that are read again: a short one in every run and longer ones less often, because the platform may show a deal
 * late, and because dealers amend and delete deals.
 */
const PERIODS: readonly Period[] = [
  // The logs are rows to be read; what this process has shown before is in memory.
  { everyMs: 600_000, backMs: 3_600_000, findsDeleted: "of_logs" },
  { everyMs: 60_000, backMs: 3_600_000, findsDeleted: "of_seen" },
  { everyMs: 5_000, backMs: REREAD_MS, findsDeleted: "of_seen" },
  { everyMs: 0, backMs: 10_000, findsDeleted: "never" },
];

/**
 * A period that is read again rests this many times as long as its reading took: after an hour of many deals they are read less
 * often, rather than instead of new ones.
 */
const REREAD_PAUSE = 19;

/** Of one run while the reader is behind, so that the day before a restart of the database is read by one process. */
const MAX_STEPS = 30;

/** Reads the history of all managed accounts. Every process runs this job; a lease lets one read at a time. */
export function dealReader(deps: Deps): AsyncDisposable & { readonly read: () => Promise<boolean> } {
  const role = leaseCandidate(deps.pool, LEASE);
  const mayContinue = async (): Promise<boolean> => (await role.renewOrAcquire()) !== undefined;
  let own: { readonly fence: bigint; readonly reader: AccountReader; readonly dueAt: Map<Period, number> } | undefined;
  const read = async (): Promise<boolean> => {
    const lease = await role.renewOrAcquire();
    if (lease === undefined) return false;
    // While another process was reading, what this one remembers became out of date.
    if (own?.fence !== lease.fence) {
      own = { fence: lease.fence, reader: new AccountReader(deps, { ...role, mayContinue }), dueAt: new Map() };
    }
    const { reader, dueAt } = own;
    const now = performance.now();
    const period = PERIODS.find((each) => now >= (dueAt.get(each) ?? 0));
    if (period === undefined) return false;
    let isBehind = await reader.read(period);
    for (let step = 1; isBehind && step < MAX_STEPS && (await mayContinue()); step += 1) {
      isBehind = await reader.read(period);
    }
    const endedAt = performance.now();
    const restMs = period.everyMs === 0 ? 0 : (endedAt - now) * REREAD_PAUSE;
    dueAt.set(period, Math.max(now + period.everyMs, endedAt + restMs));
    return isBehind;
  };
  return { read, [Symbol.asyncDispose]: () => role[Symbol.asyncDispose]() };
}

/** Reads the logins of `deps.freshDeals` at once, without waiting for the next run of the reader. */
export async function readFreshDeals(deps: Deps): Promise<boolean> {
  for (const logins of batchesOf(deps.freshDeals.take())) await readLogins(deps, logins);
  return false;
}
