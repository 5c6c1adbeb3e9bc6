import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { createLog } from "../log.ts";
import { acquireLease } from "../postgres/lease.ts";
import type { Pool } from "../postgres/pool.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { sequenceEntries } from "../feed/outbox.ts";
import { publishAll } from "../feed/publish.ts";

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
  await inTransaction(pool, (tx) =>
    publishAll(
      tx,
      amounts.map((amount) => ({ feed, event: Money, message: cents(amount), subject })),
    ),
  );
}

/** Sequences committed events as a relay does, and leaves the lease free. */
export async function sequenceAll(pool: Pool): Promise<void> {
  const lease = await acquireLease(pool, { name: "sequencing", owner: "test", ttlMs: 0 });
  if (lease === undefined) throw new Error("the lease of the test is taken");
  while ((await sequenceEntries(pool, lease, 500)).length > 0);
}
