import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Money } from "#proto/pamm/common/v1/money.ts";
import type { TestDatabase } from "#test/support/database.ts";
import { execute, many, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { tell, tellAll } from "./tell.ts";
import { cents, FEED, tellCents } from "../testing/feed.ts";
import { onTold } from "./wake.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await kernelDatabase();
});

beforeEach(async () => {
  await execute(database.pool, sql`truncate outbox`);
});

afterAll(() => database[Symbol.asyncDispose]());

test("a fact is there with its change", async () => {
  await inTransaction(database.pool, (tx) =>
    tell(tx, { feed: FEED, event: Money, message: cents(5n), subject: "coin.v1.5", requestId: "r-1" }),
  );

  const rows = await many(
    database.pool,
    sql`select feed, type, subject, payload, request_id, number, published_at from outbox`,
  );
  expect(rows).toEqual([
    {
      feed: FEED,
      type: "pamm.common.v1.Money",
      subject: "coin.v1.5",
      payload: Buffer.from(Money.encode(cents(5n)).finish()),
      request_id: "r-1",
      number: null,
      published_at: null,
    },
  ]);
});

test("a fact goes with its change", async () => {
  const undone = inTransaction(database.pool, async (tx) => {
    await tell(tx, { feed: FEED, event: Money, message: cents(5n) });
    throw new Error("undone");
  });

  await expect(undone).rejects.toThrow("undone");
  expect(await many(database.pool, sql`select id from outbox`)).toEqual([]);
});

test("facts told together keep their order", async () => {
  const amounts = Array.from({ length: 300 }, (_, index) => BigInt(index));

  await tellCents(database.pool, amounts);

  const rows = await many<{ payload: Buffer }>(database.pool, sql`select payload from outbox order by id`);
  expect(rows.map(({ payload }) => Money.decode(payload).minorUnits)).toEqual(amounts);
});

test("nothing to tell is nothing done", async () => {
  await inTransaction(database.pool, (tx) => tellAll(tx, []));
  expect(await many(database.pool, sql`select id from outbox`)).toEqual([]);
});

test("relays are woken when the fact can be seen, and not before", async () => {
  const seen: Promise<unknown[]>[] = [];
  using _told = onTold(() => seen.push(many(database.pool, sql`select id from outbox`)));

  await inTransaction(database.pool, async (tx) => {
    await tell(tx, { feed: FEED, event: Money, message: cents(1n) });
    await tell(tx, { feed: FEED, event: Money, message: cents(2n) });
    expect(seen).toEqual([]);
  });

  expect(await Promise.all(seen)).toEqual([[expect.anything(), expect.anything()]]);
});

test("a message of another type, or with a field missing, or outside a transaction, does not compile", () => {
  void (async () => {
    await inTransaction(database.pool, async (tx) => {
      // @ts-expect-error a field is missing
      await tell(tx, { feed: FEED, event: Money, message: { currencyCode: "USD" } });
    });
    // @ts-expect-error a pool is no transaction
    await tell(database.pool, { feed: FEED, event: Money, message: cents(1n) });
  });
});
