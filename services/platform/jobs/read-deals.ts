import { leaseKeeper } from "#kernel/postgres/lease-keeper.ts";
import type { Deps } from "../deps.ts";
import { deletedDeals } from "../amendments/amendments.ts";
import { readFrom, readHistory, readLogin, TRAILING_MS } from "../protocol/history/read-history.ts";
import { listLogins, listUndecided } from "../store/accounts.ts";
import { readClock } from "../store/clock.ts";
import { moveReadTo } from "../store/reader-cursor.ts";

/** A reader that died is replaced within five seconds. */
export const READER_LEASE_MS = 5_000;
const LEASE = { name: "deal-reader", ttlMs: READER_LEASE_MS, renewMs: 1_000, pollMs: 500 };
/** Logins of one question; their number is bounded by the length of a URL. */
const LOGINS_PER_READ = 100;
const MAX_CONCURRENT = 4;
/**
 * What was read is read again: shortly in every round, further back more rarely, because a deal may be shown late, and
 * because deals are edited and taken away.
 */
const TRAILS = [
  { everyMs: 60_000, backMs: 3_600_000, isForGone: true },
  { everyMs: 5_000, backMs: TRAILING_MS, isForGone: true },
  { everyMs: 0, backMs: 10_000, isForGone: false },
];

type Trail = (typeof TRAILS)[number];

/** Follows the history of all managed accounts. Any number of processes may; one reads at a time. */
export function dealReader(deps: Deps): AsyncDisposable & { readonly read: () => Promise<boolean> } {
  const role = leaseKeeper(deps.pool, LEASE);
  const dueAt = new Map<Trail, number>();
  const gone = deletedDeals();
  const read = async (): Promise<boolean> => {
    if ((await role.keep()) === undefined) return false;
    const now = performance.now();
    const trail = TRAILS.find((each) => now >= (dueAt.get(each) ?? 0));
    if (trail === undefined) return false;
    await readRound(deps, trail, gone);
    dueAt.set(trail, now + trail.everyMs);
    await gone.ask(deps);
    return false;
  };
  return { read, [Symbol.asyncDispose]: () => role[Symbol.asyncDispose]() };
}

/** Looks at once where this process knows that something has happened. */
export async function readFreshDeals(deps: Deps): Promise<boolean> {
  const logins = deps.freshDeals.take();
  for (const page of pagesOf(logins)) await readHistory(deps, page, await readFrom(deps, TRAILING_MS));
  return false;
}

/** The cursor moves only after every login was read, so a round that broke is read again from where it began. */
async function readRound(
  deps: Deps,
  { backMs, isForGone }: Trail,
  gone: ReturnType<typeof deletedDeals>,
): Promise<void> {
  const startedAt = new Date(await readClock(deps.pool));
  const from = await readFrom(deps, backMs);
  const failures: unknown[] = [];
  const read = async (logins: readonly string[]): Promise<void> => {
    const readAt = new Date(await readClock(deps.pool));
    const deals = await readHistory(deps, logins, from);
    gone.show(deals);
    if (isForGone) await gone.pendingBreak(deps, { logins, from, to: readAt }, deals);
  };
  for (const login of await listUndecided(deps.pool)) {
    await readLogin(deps, login).catch((error: unknown) => failures.push(error));
  }
  for (let after = ""; ;) {
    const logins = await listLogins(deps.pool, after, LOGINS_PER_READ * MAX_CONCURRENT);
    // Pages that cannot be read must not keep those behind them from it.
    const results = await Promise.allSettled(pagesOf(logins).map(read));
    failures.push(...results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : [])));
    const last = logins.at(-1);
    if (last === undefined || logins.length < LOGINS_PER_READ * MAX_CONCURRENT) break;
    after = last;
  }
  if (failures.length > 0) throw new AggregateError(failures, "the history of some logins could not be read");
  await moveReadTo(deps.pool, startedAt);
}

function pagesOf(logins: readonly string[]): string[][] {
  const pages: string[][] = [];
  for (let from = 0; from < logins.length; from += LOGINS_PER_READ) {
    pages.push(logins.slice(from, from + LOGINS_PER_READ));
  }
  return pages;
}
