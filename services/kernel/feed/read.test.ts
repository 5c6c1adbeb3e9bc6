import { beforeEach, expect, test } from "vitest";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { execute, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { feedReader } from "./read.ts";
import { publish } from "./publish.ts";
import { cents, FEED, publishCents } from "../testing/feed.ts";

const { pool } = await kernelDatabase();
const reader = feedReader(pool, [FEED, "till.notes"]);

beforeEach(async () => {
  await execute(pool, sql`truncate outbox, feed_head`);
});

const readFeed = (afterNumber = 0n, afterId = 0n, limit = 500, feed = FEED) =>
  reader.read({ feed, afterNumber, afterId, limit });

test("an entry contains the published event, and nothing of another feed", async () => {
  await publishCents(pool, [9n], "till.notes");
  expect(await readFeed()).toEqual({ entries: [], lastNumber: 0n });
  await inTransaction(pool, async (tx) =>
    publish(tx, { feed: FEED, event: Money, message: cents(5n), requestId: "r-1" }),
  );

  const { entries, lastNumber } = await readFeed();

  expect(lastNumber).toBe(1n);
  expect(entries).toEqual([
    {
      number: 1n,
      id: expect.any(BigInt),
      type: "pamm.common.v1.Money",
      payload: Buffer.from(Money.encode(cents(5n)).finish()),
      publishedAt: expect.any(Date),
      requestId: "r-1",
    },
  ]);
});

test("a reader that reads after its last entry gets every entry once", async () => {
  await publishCents(pool, [1n, 2n, 3n, 4n, 5n]);
  const read: bigint[] = [];
  let [number, id] = [0n, 0n];
  for (;;) {
    const { entries, lastNumber } = await readFeed(number, id, 2);
    if (entries.length === 0) break;
    expect(lastNumber).toBe(5n);
    for (const entry of entries) [number, id] = [entry.number, entry.id];
    read.push(...entries.map(({ payload }) => Money.decode(payload).minorUnits));
  }

  expect(read).toEqual([1n, 2n, 3n, 4n, 5n]);
});

test("large entries make a short page, but never an empty one", async () => {
  const large = { currencyCode: "x".repeat(700_000), minorUnits: 1n };
  await inTransaction(pool, async (tx) => {
    for (let count = 0; count < 4; count += 1) publish(tx, { feed: FEED, event: Money, message: large });
  });

  expect((await readFeed()).entries.map(({ number }) => number)).toEqual([1n, 2n]);
});

test("a feed of another service is refused", async () => {
  await expect(readFeed(0n, 0n, 10, "shop.sales")).rejects.toMatchObject({
    code: "feed_not_found",
    status: "not_found",
  });
});

test("a limit out of range is refused and not reduced", async () => {
  for (const limit of [0, -1, 501]) {
    await expect(readFeed(0n, 0n, limit)).rejects.toMatchObject({ code: "feed_limit_invalid", status: "invalid" });
  }
});

test("a cursor of entries that the feed does not have is refused as rewound", async () => {
  await publishCents(pool, [1n, 2n]);
  const { entries } = await readFeed();
  const [first, second] = entries;

  await expect(readFeed(2n, second?.id)).resolves.toMatchObject({ entries: [] });
  await expect(readFeed(2n, first?.id)).rejects.toMatchObject({ code: "feed_rewound", status: "conflict" });
  await expect(readFeed(3n, 999n)).rejects.toMatchObject({ code: "feed_rewound", details: { last_number: "2" } });
  await expect(readFeed(3n, 0n)).rejects.toMatchObject({ code: "feed_rewound" });
  await expect(readFeed(1n, 0n)).rejects.toMatchObject({ code: "feed_rewound" });
  await expect(readFeed(0n, 1n)).rejects.toMatchObject({ code: "feed_rewound" });
});

test("a cursor before deleted entries is refused, and the message contains the next step", async () => {
  await publishCents(pool, [1n, 2n, 3n, 4n]);
  const { entries } = await readFeed();
  await execute(pool, sql`delete from outbox where feed = ${FEED} and number < 3`);

  await expect(readFeed(0n, 0n)).rejects.toMatchObject({
    code: "feed_truncated",
    status: "conflict",
    message: expect.stringContaining("restore its database from a backup that has read further"),
    details: { first_number: "3", last_number: "4" },
  });
  await expect(readFeed(1n, entries[0]?.id)).rejects.toMatchObject({ code: "feed_truncated" });
  // All following entries exist, but not the entry by which a rewound feed is recognised.
  await expect(readFeed(2n, entries[1]?.id)).rejects.toMatchObject({ code: "feed_truncated" });
  await expect(readFeed(3n, entries[2]?.id)).resolves.toMatchObject({ entries: [{ number: 4n }] });
  await expect(readFeed(3n, entries[1]?.id)).rejects.toMatchObject({ code: "feed_rewound" });
});
