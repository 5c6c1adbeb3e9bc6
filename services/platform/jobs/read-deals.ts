import { leaseCandidate } from "#kernel/postgres/lease-candidate.ts";
import type { Deps } from "../deps.ts";
import { deletedDeals } from "../amendments/amendments.ts";
import { MAX_LOGINS_PER_CALL } from "../mt5/fields.ts";
import { readFrom, readHistory, readLogin, REREAD_MS } from "../protocol/history/read-history.ts";
import { listLogins, listUndecided } from "../store/accounts.ts";
import { readClock } from "../store/clock.ts";
import { moveReadTo } from "../store/reader-cursor.ts";

/** A reader that crashed is replaced within five seconds. */
export const READER_LEASE_MS = 5_000;
const LEASE = { name: "deal-reader", ttlMs: READER_LEASE_MS, renewMs: 1_000, pollMs: 500 };
/** Half of the usual sessions, so that commands find a free one. */
const MAX_CONCURRENT = 4;
/**
 * Periods that are read again: a short one in every run and longer ones less often, because the platform may show a deal
 * late, and because dealers amend and delete deals.
 */
const PERIODS = [
  { everyMs: 60_000, backMs: 3_600_000, findsDeleted: true },
  { everyMs: 5_000, backMs: REREAD_MS, findsDeleted: true },
  { everyMs: 0, backMs: 10_000, findsDeleted: false },
];

type Period = (typeof PERIODS)[number];

/** Reads the history of all managed accounts. Every process runs this job; a lease lets one read at a time. */
export function dealReader(deps: Deps): AsyncDisposable & { readonly read: () => Promise<boolean> } {
  const role = leaseCandidate(deps.pool, LEASE);
  const dueAt = new Map<Period, number>();
  const deleted = deletedDeals();
  const read = async (): Promise<boolean> => {
    if ((await role.renewOrAcquire()) === undefined) return false;
    const now = performance.now();
    const period = PERIODS.find((each) => now >= (dueAt.get(each) ?? 0));
    if (period === undefined) return false;
    await readAllLogins(deps, period, deleted);
    dueAt.set(period, now + period.everyMs);
    await deleted.requestMissing(deps);
    return false;
  };
  return { read, [Symbol.asyncDispose]: () => role[Symbol.asyncDispose]() };
}

/** Reads the logins of `deps.freshDeals` at once, without waiting for the next run of the reader. */
export async function readFreshDeals(deps: Deps): Promise<boolean> {
  const logins = deps.freshDeals.take();
  for (const page of pagesOf(logins)) await readHistory(deps, page, await readFrom(deps, REREAD_MS));
  return false;
}

/** The cursor moves only after every login was read, so the next run repeats a failed one from its beginning. */
async function readAllLogins(
  deps: Deps,
  { backMs, findsDeleted }: Period,
  deleted: ReturnType<typeof deletedDeals>,
): Promise<void> {
  const startedAt = new Date(await readClock(deps.pool));
  const from = await readFrom(deps, backMs);
  const failures: unknown[] = [];
  const read = async (logins: readonly string[]): Promise<void> => {
    const readAt = new Date(await readClock(deps.pool));
    const deals = await readHistory(deps, logins, from);
    deleted.noteShown(deals);
    if (findsDeleted) await deleted.noteMissing(deps, { logins, from, to: readAt }, deals);
  };
  for (const login of await listUndecided(deps.pool)) {
    await readLogin(deps, login).catch((error: unknown) => failures.push(error));
  }
  for (let after = ""; ;) {
    const logins = await listLogins(deps.pool, after, MAX_LOGINS_PER_CALL * MAX_CONCURRENT);
    // A page that cannot be read must not prevent the reading of later pages.
    const results = await Promise.allSettled(pagesOf(logins).map(read));
    failures.push(...results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : [])));
    const last = logins.at(-1);
    if (last === undefined || logins.length < MAX_LOGINS_PER_CALL * MAX_CONCURRENT) break;
    after = last;
  }
  if (failures.length > 0) throw new AggregateError(failures, "the history of some logins could not be read");
  await moveReadTo(deps.pool, startedAt);
}

function pagesOf(logins: readonly string[]): string[][] {
  const pages: string[][] = [];
  for (let from = 0; from < logins.length; from += MAX_LOGINS_PER_CALL) {
    pages.push(logins.slice(from, from + MAX_LOGINS_PER_CALL));
  }
  return pages;
}
