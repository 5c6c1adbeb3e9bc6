import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { createLog } from "../process/log.ts";
import type { Pool } from "../postgres/pool.ts";
import { execute, sql } from "../postgres/query.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { publishAll } from "../feed/publish.ts";
import { type RelayOptions, startRelay } from "../feed/relay.ts";
import { runDueJobs } from "../work-queue/due-jobs.ts";

export const FEED = "till.coins";
export const silent = createLog({ service: "test", level: "silent" });

/** A message with an amount, by which tests recognise entries. */
export const cents = (minorUnits: bigint): Money => ({ currencyCode: "USD", minorUnits });

export function anEntry(number: bigint, over: Partial<FeedEntry> = {}): FeedEntry {
  return {
    number,
    id: number * 10n,
    type: Money.$type,
    payload: Money.encode(cents(number)).finish(),
    publishedAt: new Date("2026-11-21T10:00:00Z"),
    requestId: "",
    ...over,
  };
}

/** Publishes an event for each amount, in one transaction. */
export async function publishCents(
  pool: Pool,
  amounts: readonly bigint[],
  feed = FEED,
  subject?: string,
): Promise<void> {
  await inTransaction(pool, async (tx) =>
    publishAll(
      tx,
      amounts.map((amount) => ({ feed, event: Money, message: cents(amount), subject })),
    ),
  );
}

/** A relay with its job, as a service runs it. */
export function runRelay(options: RelayOptions): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  const { forwarding } = stack.use(startRelay(options));
  for (const job of runDueJobs({ ...options, jobs: [forwarding], log: silent, pollMs: 100 })) stack.use(job);
  return stack;
}

/** Gives the feed the state of a backup: entries after this number never were. */
export async function restoreFeed(pool: Pool, lastNumber: bigint): Promise<void> {
  await execute(pool, sql`delete from outbox where feed = ${FEED} and number > ${lastNumber}`);
  await execute(pool, sql`update feed_head set last_number = ${lastNumber} where feed = ${FEED}`);
}
