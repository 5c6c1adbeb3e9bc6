import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Money } from "#proto/pamm/common/v1/money.ts";
import type { TestDatabase } from "#test/support/database.ts";
import { execute, many, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { outboxSignal } from "./outbox-signal.ts";
import { publish, publishAll } from "./publish.ts";
import { cents, FEED, publishCents } from "../testing/feed.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await kernelDatabase();
});

beforeEach(async () => {
  await execute(database.pool, sql`truncate outbox`);
});

afterAll(() => database[Symbol.asyncDispose]());

test("an event is committed with its change", async () => {
  await inTransaction(database.pool, (tx) =>
    publish(tx, { feed: FEED, event: Money, message: cents(5n), subject: "coin.v1.5", requestId: "r-1" }),
  );

  const rows = await many(
    database.pool,
    sql`select feed, type, subject, payload, request_id, number, forwarded_at from outbox`,
  );
  expect(rows).toEqual([
    {
      feed: FEED,
      type: "pamm.common.v1.Money",
      subject: "coin.v1.5",
      payload: Buffer.from(Money.encode(cents(5n)).finish()),
      request_id: "r-1",
      number: null,
      forwarded_at: null,
    },
  ]);
});

test("an event is rolled back with its change", async () => {
  const rolledBack = inTransaction(database.pool, async (tx) => {
    await publish(tx, { feed: FEED, event: Money, message: cents(5n) });
    throw new Error("undone");
  });

  await expect(rolledBack).rejects.toThrow("undone");
  expect(await many(database.pool, sql`select id from outbox`)).toEqual([]);
});

test("events published together keep their order", async () => {
  const amounts = Array.from({ length: 300 }, (_, index) => BigInt(index));

  await publishCents(database.pool, amounts);

  const rows = await many<{ payload: Buffer }>(database.pool, sql`select payload from outbox order by id`);
  expect(rows.map(({ payload }) => Money.decode(payload).minorUnits)).toEqual(amounts);
});

test("publishing no events inserts no rows", async () => {
  await inTransaction(database.pool, (tx) => publishAll(tx, []));
  expect(await many(database.pool, sql`select id from outbox`)).toEqual([]);
});

test("the relay is woken after the commit, and not before", async () => {
  const { notify, wait } = outboxSignal(database.pool);
  const { signal } = new AbortController();
  notify();
  await wait(0, signal);
  let found: Promise<unknown[]> | undefined;
  const woken = wait(10_000, signal).then(() => (found = many(database.pool, sql`select id from outbox`)));

  await inTransaction(database.pool, async (tx) => {
    await publish(tx, { feed: FEED, event: Money, message: cents(1n) });
    await publish(tx, { feed: FEED, event: Money, message: cents(2n) });
    expect(found).toBeUndefined();
  });

  expect(await woken).toEqual([expect.anything(), expect.anything()]);
});

test("a message of another type, or with a field missing, or outside a transaction, does not compile", () => {
  void (async () => {
    await inTransaction(database.pool, async (tx) => {
      // @ts-expect-error a field is missing
      await publish(tx, { feed: FEED, event: Money, message: { currencyCode: "USD" } });
    });
    // @ts-expect-error a pool is no transaction
    await publish(database.pool, { feed: FEED, event: Money, message: cents(1n) });
  });
});
