import { beforeEach, expect, test } from "vitest";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { type FeedEntry, ReadRequest } from "#proto/pamm/common/v1/feed.ts";
import { execute, many, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { type Cursor, getCursor, insertCursor, receivePage, type Receiver, MalformedEntry } from "./receive-page.ts";
import { anEntry, FEED } from "../testing/feed.ts";

const { pool } = await kernelDatabase();
await execute(pool, sql`create table coin (number bigint primary key, cents bigint not null check (cents <> 13))`);

type Coins = typeof Money | typeof ReadRequest;

const START: Cursor = { number: 0n, id: 0n };

const receiver: Receiver<Coins> = {
  feed: FEED,
  events: [Money, ReadRequest],
  async receive(tx, entries) {
    for (const entry of entries) {
      if (entry.type === "pamm.common.v1.ReadRequest") continue;
      if (entry.message.currencyCode === "") throw new MalformedEntry(entry.number, "no currency");
      await execute(tx, sql`insert into coin (number, cents) values (${entry.number}, ${entry.message.minorUnits})`);
    }
  },
};

beforeEach(async () => {
  await execute(pool, sql`truncate coin, feed_cursor`);
  await insertCursor(pool, FEED);
});

const coins = async () =>
  (await many<{ number: bigint }>(pool, sql`select number from coin order by number`)).map(({ number }) => number);
const numbers = (first: bigint, last: bigint) =>
  Array.from({ length: Number(last - first) + 1 }, (_, index) => anEntry(first + BigInt(index)));

const receive = (entries: readonly FeedEntry[], after = START) => receivePage(pool, receiver, { after, entries });

test("a page is stored and the cursor is moved in one transaction", async () => {
  expect(await receive(numbers(1n, 3n))).toEqual({ cursor: { number: 3n, id: 30n } });
  expect(await getCursor(pool, FEED)).toEqual({ number: 3n, id: 30n });
  expect(await coins()).toEqual([1n, 2n, 3n]);
});

test("a page that was read before another replica moved the cursor is dropped", async () => {
  await receive(numbers(1n, 3n));

  expect(await receive(numbers(1n, 4n))).toEqual({ cursor: { number: 3n, id: 30n } });
  expect(await receive(numbers(4n, 4n), { number: 3n, id: 31n })).toEqual({ cursor: { number: 3n, id: 30n } });
  expect(await coins()).toEqual([1n, 2n, 3n]);
});

test("of replicas that read the same page one stores it", async () => {
  const results = await Promise.all(Array.from({ length: 5 }, () => receive(numbers(1n, 3n))));

  expect(results.map(({ cursor }) => cursor.number)).toEqual([3n, 3n, 3n, 3n, 3n]);
  expect(await coins()).toEqual([1n, 2n, 3n]);
});

test("a page with a gap is not stored", async () => {
  await expect(receive(numbers(2n, 3n))).rejects.toThrow("was read with a gap after 0");
  await expect(receive([anEntry(1n), anEntry(3n)])).rejects.toThrow("was read with a gap after 0");
  expect(await coins()).toEqual([]);
});

test("a receiver that fails leaves neither rows nor a moved cursor", async () => {
  await expect(receive(numbers(1n, 13n))).rejects.toMatchObject({ code: "23514" });
  expect(await coins()).toEqual([]);
  expect(await getCursor(pool, FEED)).toEqual(START);
});

test("the entries before one that cannot be decoded are stored", async () => {
  const garbage = anEntry(3n, { payload: Buffer.from([0x0a, 0xff, 0x01]) });

  const result = await receive([...numbers(1n, 2n), garbage, ...numbers(4n, 5n)]);

  expect(result).toMatchObject({
    cursor: { number: 2n, id: 20n },
    malformed: { number: 3n, message: expect.stringContaining("not a pamm.common.v1.Money") },
  });
  expect(await coins()).toEqual([1n, 2n]);
});

test("an entry that the receiver cannot use is malformed too", async () => {
  const payload = Money.encode({ currencyCode: "", minorUnits: 3n }).finish();

  const result = await receive([...numbers(1n, 2n), anEntry(3n, { payload })]);

  expect(result).toMatchObject({ cursor: { number: 2n }, malformed: { number: 3n, message: "no currency" } });
  expect(await coins()).toEqual([1n, 2n]);
});

test("the first of several malformed entries is the one that stops the feed", async () => {
  const page = [anEntry(1n), anEntry(2n, { type: "shop.v1.Sale" }), anEntry(3n, { publishedAt: undefined })];

  await receive(page);
  const again = await receive(page.slice(1), { number: 1n, id: 10n });

  expect(again).toMatchObject({
    cursor: { number: 1n },
    malformed: { number: 2n, message: "unknown type shop.v1.Sale" },
  });
});
