import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { ReadRequest } from "#proto/pamm/common/v1/feed.ts";
import type { TestDatabase } from "#test/support/database.ts";
import type { Pool } from "../postgres/pool.ts";
import { execute, many, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { getCursor, insertCursor } from "./cursor.ts";
import { fileBatch } from "./file-batch.ts";
import type { Filing } from "./file-batch.ts";
import { anEntry, FEED } from "../testing/feed.ts";
import { MalformedEntry } from "./understand.ts";

type Coins = typeof Money | typeof ReadRequest;

let database: TestDatabase;
let pool: Pool;

const filing: Filing<Coins> = {
  feed: FEED,
  events: [Money, ReadRequest],
  async file(tx, entries) {
    for (const entry of entries) {
      if (entry.type === "pamm.common.v1.ReadRequest") continue;
      if (entry.message.currencyCode === "") throw new MalformedEntry(entry.number, "no currency");
      await execute(tx, sql`insert into coin (number, cents) values (${entry.number}, ${entry.message.minorUnits})`);
    }
  },
};

beforeAll(async () => {
  database = await kernelDatabase();
  pool = database.pool;
  await execute(pool, sql`create table coin (number bigint primary key, cents bigint not null check (cents <> 13))`);
});

beforeEach(async () => {
  await execute(pool, sql`truncate coin, feed_cursor, feed_poison`);
  await insertCursor(pool, FEED);
});

afterAll(() => database[Symbol.asyncDispose]());

const coins = async () =>
  (await many<{ number: bigint }>(pool, sql`select number from coin order by number`)).map(({ number }) => number);
const poison = () => many(pool, sql`select feed, number, entry_id, type, payload, reason from feed_poison`);
const numbers = (first: bigint, last: bigint) =>
  Array.from({ length: Number(last - first) + 1 }, (_, index) => anEntry(first + BigInt(index)));

test("a batch and the cursor move together", async () => {
  const result = await fileBatch(pool, filing, numbers(1n, 3n));

  expect(result).toEqual({ cursor: { number: 3n, id: 30n }, mustRead: false });
  expect(await getCursor(pool, FEED)).toEqual({ number: 3n, id: 30n });
  expect(await coins()).toEqual([1n, 2n, 3n]);
});

test("a batch filed twice is filed once", async () => {
  await fileBatch(pool, filing, numbers(1n, 3n));

  expect(await fileBatch(pool, filing, numbers(1n, 4n))).toMatchObject({ cursor: { number: 4n }, mustRead: false });
  expect(await coins()).toEqual([1n, 2n, 3n, 4n]);
});

test("replicas that file the same entries at once file them once", async () => {
  const results = await Promise.all(Array.from({ length: 5 }, () => fileBatch(pool, filing, numbers(1n, 3n))));

  expect(results.map(({ cursor }) => cursor.number)).toEqual([3n, 3n, 3n, 3n, 3n]);
  expect(await coins()).toEqual([1n, 2n, 3n]);
});

test("a filing that fails leaves neither rows nor a moved cursor", async () => {
  const unlucky = numbers(1n, 13n);

  await expect(fileBatch(pool, filing, unlucky)).rejects.toMatchObject({ code: "23514" });
  expect(await coins()).toEqual([]);
  expect(await getCursor(pool, FEED)).toEqual({ number: 0n, id: 0n });
});

test("an entry that cannot be decoded is kept raw, and what comes before it is filed", async () => {
  const garbage = anEntry(3n, { payload: Buffer.from([0x0a, 0xff, 0x01]) });

  const result = await fileBatch(pool, filing, [...numbers(1n, 2n), garbage, ...numbers(4n, 5n)]);

  expect(result).toMatchObject({ cursor: { number: 2n, id: 20n }, malformed: { number: 3n } });
  expect(await coins()).toEqual([1n, 2n]);
  expect(await poison()).toEqual([
    {
      feed: FEED,
      number: 3n,
      entry_id: 30n,
      type: "pamm.common.v1.Money",
      payload: Buffer.from([0x0a, 0xff, 0x01]),
      reason: expect.stringContaining("not a pamm.common.v1.Money"),
    },
  ]);
});

test("an entry that the service cannot make sense of is malformed too", async () => {
  const payload = Money.encode({ currencyCode: "", minorUnits: 3n }).finish();

  const result = await fileBatch(pool, filing, [...numbers(1n, 2n), anEntry(3n, { payload })]);

  expect(result).toMatchObject({ cursor: { number: 2n }, malformed: { number: 3n, message: "no currency" } });
  expect(await coins()).toEqual([1n, 2n]);
});

test("the first of several malformed entries is the one that stops the feed, and it is kept once", async () => {
  const batch = [anEntry(1n), anEntry(2n, { type: "shop.v1.Sale" }), anEntry(3n, { toldAt: undefined })];

  await fileBatch(pool, filing, batch);
  const again = await fileBatch(pool, filing, batch);

  expect(again).toMatchObject({
    cursor: { number: 1n },
    malformed: { number: 2n, message: "unknown type shop.v1.Sale" },
  });
  expect(await poison()).toHaveLength(1);
});

test("a malformed entry behind a hole or already filed is nobody's concern yet", async () => {
  await fileBatch(pool, filing, numbers(1n, 2n));

  const result = await fileBatch(pool, filing, [anEntry(1n, { type: "x" }), anEntry(4n, { type: "x" })]);

  expect(result).toEqual({ cursor: { number: 2n, id: 20n }, mustRead: true });
  expect(await poison()).toEqual([]);
});
