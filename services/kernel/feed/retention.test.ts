import { beforeEach, expect, test } from "vitest";
import { execute, many, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { feedReader } from "./read.ts";
import { DAY_MS } from "../values/duration.ts";
import { feedRule } from "./retention.ts";
import { FEED, publishCents } from "../testing/feed.ts";

const { pool } = await kernelDatabase();

const RULE = feedRule(FEED, 35 * DAY_MS);
const MAX_ROWS = 1_000;

beforeEach(async () => {
  await execute(pool, sql`truncate outbox, feed_head`);
});

/** Publishes `count` entries; the first `oldCount` of them are older than the retention. */
async function publishEntries(count: number, oldCount: number, subject?: string): Promise<void> {
  const amounts = Array.from({ length: count }, (_, index) => BigInt(index + 1));
  await publishCents(pool, amounts, FEED, subject);
  await makeOld(oldCount);
}

async function makeOld(count: number): Promise<void> {
  await execute(pool, sql`update outbox set published_at = published_at - interval '36 days' where number <= ${count}`);
}

async function numbers(): Promise<bigint[]> {
  const rows = await many<{ number: bigint }>(
    pool,
    sql`select number from outbox where feed = ${FEED} order by number`,
  );
  return rows.map(({ number }) => number);
}

async function deleteNext(maxRows = MAX_ROWS): Promise<number> {
  const before = new Date(Date.now() - RULE.keptMs);
  return (await RULE.removeNext(pool, { before, cursor: [], maxRows })).count;
}

async function deleteAll(): Promise<void> {
  while ((await deleteNext()) > 0);
}

test("old entries are deleted; a reader that has received them can continue", async () => {
  await publishEntries(6, 4);
  const reader = feedReader(pool, [FEED]);
  const { entries: all } = await reader.read({ feed: FEED, afterNumber: 0n, afterId: 0n, limit: 500 });

  await deleteAll();

  expect(await numbers()).toEqual([4n, 5n, 6n]);
  const page = await reader.read({ feed: FEED, afterNumber: 4n, afterId: all[3]!.id, limit: 500 });
  expect(page.entries.map(({ number }) => number)).toEqual([5n, 6n]);
});

test("the newest entry is kept at any age, so that a restored database is recognised", async () => {
  await publishEntries(5, 5);

  await deleteAll();

  expect(await numbers()).toEqual([4n, 5n]);
  const reader = feedReader(pool, [FEED]);
  const other = { feed: FEED, afterNumber: 5n, afterId: 1n, limit: 500 };
  await expect(reader.read(other)).rejects.toMatchObject({ code: "feed_rewound" });
  await publishCents(pool, [6n]);
  expect(await numbers()).toEqual([4n, 5n, 6n]);
});

test("an entry that is not forwarded to JetStream is kept, and all entries after it", async () => {
  await publishEntries(6, 5, "coin.v1.published");
  await execute(pool, sql`update outbox set forwarded_at = clock_timestamp() where number <> 3`);

  await deleteAll();

  expect(await numbers()).toEqual([2n, 3n, 4n, 5n, 6n]);
});

test("an old entry after a younger one is kept, so that there is no gap", async () => {
  await publishEntries(6, 5);
  await execute(pool, sql`update outbox set published_at = clock_timestamp() where number = 2`);

  await deleteAll();

  expect(await numbers()).toEqual([1n, 2n, 3n, 4n, 5n, 6n]);
});

test("entries of other feeds are kept", async () => {
  await publishEntries(3, 3);
  await publishCents(pool, [7n, 8n, 9n], "till.notes");
  await makeOld(3);

  await deleteAll();

  expect(await numbers()).toEqual([2n, 3n]);
  expect(await many(pool, sql`select number from outbox where feed = 'till.notes'`)).toHaveLength(3);
});

test("a batch is limited, and replicas can delete at the same time", async () => {
  await publishEntries(12, 10);

  expect(await deleteNext(5)).toBe(3);
  expect((await numbers())[0]).toBe(4n);
  await Promise.all([deleteAll(), deleteAll(), deleteAll()]);

  expect(await numbers()).toEqual([10n, 11n, 12n]);
});
