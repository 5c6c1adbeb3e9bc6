import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#kernel/values/duration.ts";
import { leaseCandidate } from "#kernel/postgres/lease.ts";
import type { Deps } from "../deps.ts";
import { batchesOf } from "../mt5/fields.ts";
import { readLogins, REREAD_MS } from "../protocol/history/read-history.ts";
import { AccountReader } from "../reader/account-reader.ts";

/** A reader that crashed is replaced within five seconds. */
export const READER_LEASE_MS = 5_000;
/** Half of the lease: one renewal may fail. */
const LEASE = { name: "deal-reader", ttlMs: READER_LEASE_MS, renewMs: 2_500, pollMs: 500 };

/** A deal that only an answer has shown counts as deleted after `REREAD_MS`, and then the next run has to look for it. */
const REREAD_LONGER_MS = REREAD_MS + 15 * SECOND_MS;

type Task = { readonly everyMs: number; readonly run: (reader: AccountReader) => Promise<boolean> };

const FREQUENT = { skipsCompared: true };

/**
 * Periods that are read again: a short one in every run and longer ones less often, because the platform may show a deal
 * late, and because dealers amend and delete deals.
 */
const TASKS: readonly Task[] = [
  { everyMs: 10 * MINUTE_MS, run: readLongest },
  { everyMs: MINUTE_MS, run: (reader) => reader.read({ backMs: 10 * MINUTE_MS, findsDeleted: true }) },
  { everyMs: 5_000, run: (reader) => reader.read({ ...FREQUENT, backMs: REREAD_LONGER_MS, findsDeleted: true }) },
  { everyMs: 0, run: (reader) => reader.read({ ...FREQUENT, backMs: 10_000, findsDeleted: false }) },
];

/** Of an hour, and once it has caught up of what has become a day old. */
async function readLongest(reader: AccountReader): Promise<boolean> {
  const isBehind = await reader.read({ backMs: HOUR_MS, findsDeleted: true });
  if (!isBehind) await reader.readOld();
  return isBehind;
}

/**
 * A period that is read again rests this many times as long as its reading took: after an hour of many deals they are read less
 * often, rather than instead of new ones.
 */
const REREAD_PAUSE = 19;

/** Of one run while the reader is behind, so that the day before a restart of the database is read by one process. */
const MAX_STEPS = 30;

/** True while the reader is behind. */
async function runSteps({ run }: Task, reader: AccountReader, mayContinue: () => Promise<boolean>): Promise<boolean> {
  for (let step = 1; await run(reader); step += 1) {
    if (step === MAX_STEPS || !(await mayContinue())) return true;
  }
  return false;
}

/** Reads the history of all managed accounts. Every process runs this job; a lease lets one read at a time. */
export function dealReader(deps: Deps): AsyncDisposable & { readonly read: () => Promise<boolean> } {
  const role = leaseCandidate(deps.pool, LEASE);
  const mayContinue = async (): Promise<boolean> => (await role.renewOrAcquire()) !== undefined;
  let own: { readonly fence: bigint; readonly reader: AccountReader; readonly dueAt: Map<Task, number> } | undefined;
  const read = async (): Promise<boolean> => {
    const lease = await role.renewOrAcquire();
    if (lease === undefined) return false;
    // While another process was reading, what this one remembers became out of date.
    if (own?.fence !== lease.fence) {
      own = { fence: lease.fence, reader: new AccountReader(deps, { ...role, mayContinue }), dueAt: new Map() };
    }
    const { reader, dueAt } = own;
    const now = performance.now();
    const task = TASKS.find((each) => now >= (dueAt.get(each) ?? 0));
    if (task === undefined) return false;
    const due = now + task.everyMs;
    const rested = (): number =>
      task.everyMs === 0 ? now : performance.now() + (performance.now() - now) * REREAD_PAUSE;
    try {
      const isBehind = await runSteps(task, reader, mayContinue);
      dueAt.set(task, Math.max(due, rested()));
      return isBehind;
    } catch (error) {
      // A period that cannot be read is no reason to read no other one: it is tried again after its rest, or earlier.
      dueAt.set(task, Math.min(due, rested()));
      throw error;
    }
  };
  return { read, [Symbol.asyncDispose]: () => role[Symbol.asyncDispose]() };
}

/** Reads the logins of `deps.freshDeals` at once, without waiting for the next run of the reader. */
export async function readFreshDeals(deps: Deps): Promise<boolean> {
  for (const logins of batchesOf(deps.freshDeals.take())) await readLogins(deps, logins);
  return false;
}
