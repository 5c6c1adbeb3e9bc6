import type { Job } from "#kernel/job.ts";
import { runJob } from "#kernel/job.ts";
import { leaseKeeper } from "#kernel/postgres/lease-keeper.ts";
import type { Deps } from "../deps.ts";
import { readFrom, readHistory, readLogin } from "../protocol/read-history.ts";
import { listLogins, listUndecided } from "../store/accounts.ts";
import { moveReadTo } from "../store/reader-cursor.ts";

const LEASE = { name: "deal-reader", ttlMs: 5_000, renewMs: 1_000, pollMs: 500 };
/** Logins of one question; their number is bounded by the length of a URL. */
const LOGINS_PER_READ = 100;
const MAX_CONCURRENT = 4;
/** Every so often the last hour is read again: a deal may be shown late. */
const DEEP_EVERY_MS = 60_000;
const DEEP_MS = 3_600_000;

/** Follows the history of all managed accounts. Any number of processes may; one reads at a time. */
export function readAllDeals(deps: Deps, everyMs: number): Job {
  const role = leaseKeeper(deps.pool, LEASE);
  let deepAt = 0;
  const work = async (): Promise<boolean> => {
    if ((await role.keep()) === undefined) return false;
    const isDeep = performance.now() >= deepAt;
    await readRound(deps, isDeep ? DEEP_MS : 0);
    if (isDeep) deepAt = performance.now() + DEEP_EVERY_MS;
    return false;
  };
  const job = runJob({ name: "read deals", everyMs, work, log: deps.log, longestRetryMs: LEASE.ttlMs });
  return {
    name: job.name,
    async [Symbol.asyncDispose]() {
      await job[Symbol.asyncDispose]();
      await role[Symbol.asyncDispose]();
    },
  };
}

/** Looks at once where this process knows that something has happened. */
export function readFreshDeals(deps: Deps): Job {
  const work = async (): Promise<boolean> => {
    const logins = deps.freshDeals.take();
    for (const page of pagesOf(logins)) await readHistory(deps, page, await readFrom(deps));
    return false;
  };
  const everyMs = DEEP_EVERY_MS;
  return runJob({
    name: "read fresh deals",
    everyMs,
    wake: deps.freshDeals.bell,
    work,
    log: deps.log,
    longestRetryMs: 1_000,
  });
}

/** The cursor moves only after every login was read, so a round that broke is read again from where it began. */
async function readRound(deps: Deps, furtherMs: number): Promise<void> {
  const startedAt = new Date();
  const from = new Date((await readFrom(deps)).getTime() - furtherMs);
  for (const login of await listUndecided(deps.pool)) await readLogin(deps, login);
  for (let after = ""; ;) {
    const logins = await listLogins(deps.pool, after, LOGINS_PER_READ * MAX_CONCURRENT);
    await Promise.all(pagesOf(logins).map((page) => readHistory(deps, page, from)));
    const last = logins.at(-1);
    if (last === undefined || logins.length < LOGINS_PER_READ * MAX_CONCURRENT) break;
    after = last;
  }
  await moveReadTo(deps.pool, startedAt);
}

function pagesOf(logins: readonly string[]): string[][] {
  const pages: string[][] = [];
  for (let from = 0; from < logins.length; from += LOGINS_PER_READ)
    pages.push(logins.slice(from, from + LOGINS_PER_READ));
  return pages;
}
