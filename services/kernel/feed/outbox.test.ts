import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Money } from "#proto/pamm/common/v1/money.ts";
import type { TestDatabase } from "#test/support/database.ts";
import { acquireLease, type Lease } from "../postgres/lease.ts";
import type { Pool } from "../postgres/pool.ts";
import { execute, many, one, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { hasUnsequenced, raiseIds, sequenceEntries } from "./outbox.ts";
import { publish } from "./publish.ts";
import { cents, FEED, publishCents } from "../testing/feed.ts";

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await kernelDatabase();
  pool = database.pool;
});

beforeEach(async () => {
  await execute(pool, sql`truncate outbox, lease`);
});

afterAll(() => database[Symbol.asyncDispose]());

async function takeLease(owner = "relay"): Promise<Lease> {
  const lease = await acquireLease(pool, { name: "relay", owner, ttlMs: 0 });
  if (lease === undefined) throw new Error("the lease is taken");
  return lease;
}

async function sequenced(feed = FEED): Promise<[bigint | null, bigint][]> {
  const rows = await many<{ number: bigint | null; payload: Buffer }>(
    pool,
    sql`select number, payload from outbox where feed = ${feed} order by number nulls last, id`,
  );
  return rows.map(({ number, payload }) => [number, Money.decode(payload).minorUnits]);
}

test("committed entries get 1, 2, 3 ... per feed in the order in which they were published", async () => {
  const lease = await takeLease();
  await publishCents(pool, [10n, 20n]);
  await publishCents(pool, [7n], "till.notes");
  await publishCents(pool, [30n]);

  const heads = await sequenceEntries(pool, lease, 500);

  expect(heads.toSorted((left, right) => left.feed.localeCompare(right.feed))).toEqual([
    { feed: FEED, lastNumber: 3n },
    { feed: "till.notes", lastNumber: 1n },
  ]);
  expect(await sequenced()).toEqual([
    [1n, 10n],
    [2n, 20n],
    [3n, 30n],
  ]);
  expect(await sequenced("till.notes")).toEqual([[1n, 7n]]);
  expect(await hasUnsequenced(pool)).toBe(false);
});

test("an entry whose transaction commits late gets the next number, so that there is no gap", async () => {
  const lease = await takeLease();
  const isPublished = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const slow = inTransaction(pool, async (tx) => {
    await publish(tx, { feed: FEED, event: Money, message: cents(1n) });
    isPublished.resolve();
    await mayCommit.promise;
  });
  await isPublished.promise;
  await publishCents(pool, [2n]);

  await sequenceEntries(pool, lease, 500);
  mayCommit.resolve();
  await slow;
  await sequenceEntries(pool, lease, 500);

  expect(await sequenced()).toEqual([
    [1n, 2n],
    [2n, 1n],
  ]);
});

test("a batch is limited, and the next one continues after it", async () => {
  const lease = await takeLease();
  await publishCents(pool, [1n, 2n, 3n, 4n, 5n]);

  expect(await sequenceEntries(pool, lease, 2)).toEqual([{ feed: FEED, lastNumber: 2n }]);
  expect(await sequenceEntries(pool, lease, 2)).toEqual([{ feed: FEED, lastNumber: 4n }]);
  expect(await sequenceEntries(pool, lease, 2)).toEqual([{ feed: FEED, lastNumber: 5n }]);
  expect(await sequenceEntries(pool, lease, 2)).toEqual([]);
  expect(await sequenced()).toEqual([
    [1n, 1n],
    [2n, 2n],
    [3n, 3n],
    [4n, 4n],
    [5n, 5n],
  ]);
});

test("a relay whose lease was taken sequences nothing", async () => {
  const lost = await takeLease("first");
  const current = await takeLease("second");
  await publishCents(pool, [1n]);

  expect(await sequenceEntries(pool, lost, 500)).toEqual([]);
  expect(await sequenced()).toEqual([[null, 1n]]);
  expect(await sequenceEntries(pool, current, 500)).toEqual([{ feed: FEED, lastNumber: 1n }]);
});

test("with concurrent publishers and relays that take over from each other no number is missing or used twice", async () => {
  const COUNT = 400;
  let isPublishing = true;
  const publishers = Array.from({ length: 4 }, async (_, publisher) => {
    for (let count = 0; count < COUNT / 4; count += 1) await publishCents(pool, [BigInt(publisher * 1_000 + count)]);
  });
  const relays = ["a", "b", "c"].map(async (owner) => {
    for (let idle = 0; idle < 3;) {
      // Each relay takes the lease from the others, so that most statements run with an outdated fence.
      const lease = await acquireLease(pool, { name: "relay", owner, ttlMs: 0 }).catch(() => undefined);
      const heads = lease === undefined ? [] : await sequenceEntries(pool, lease, 7);
      idle = isPublishing || heads.length > 0 || (await hasUnsequenced(pool)) ? 0 : idle + 1;
    }
  });

  await Promise.all(publishers);
  isPublishing = false;
  await Promise.all(relays);

  const rows = await sequenced();
  expect(rows.map(([number]) => number)).toEqual(Array.from({ length: COUNT }, (_, index) => BigInt(index + 1)));
  for (const publisher of [0n, 1n, 2n, 3n]) {
    const own = rows.map(([, amount]) => amount).filter((amount) => amount / 1_000n === publisher);
    expect(own).toEqual(own.toSorted((left, right) => Number(left - right)));
  }
});

test("ids are raised to the present time and never lowered", async () => {
  const nextId = async () => {
    await publishCents(pool, [1n]);
    return (await one<{ id: bigint }>(pool, sql`select max(id) as id from outbox`)).id;
  };
  const floor = BigInt(Date.now() - Date.parse("2025-01-01T00:00:00Z")) * 512n;

  await raiseIds(pool);
  const first = await nextId();
  expect(first - floor).toBeGreaterThan(-512n * 60_000n);
  expect(first - floor).toBeLessThan(512n * 60_000n);

  await execute(pool, sql`select setval('outbox_id_seq', ${first * 2n})`);
  await raiseIds(pool);
  expect(await nextId()).toBe(first * 2n + 1n);
});
