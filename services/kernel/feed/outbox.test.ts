import { afterAll, beforeEach, expect, test } from "vitest";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { createPool, type Pool } from "../postgres/pool.ts";
import { execute, many, one, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { beforeCommit, inTransaction, type Transaction } from "../postgres/transaction.ts";
import { publish } from "./publish.ts";
import { cents, FEED, publishCents } from "../testing/feed.ts";

const { pool, url } = await kernelDatabase();
/** The pool of another replica. */
const other = createPool({ url, schema: "kernel", applicationName: "other", max: 8 });

const NOTES = "till.notes";

beforeEach(async () => {
  await execute(pool, sql`truncate outbox, feed_head`);
});

afterAll(async () => {
  await other[Symbol.asyncDispose]();
});

async function numbered(feed = FEED): Promise<[bigint, bigint][]> {
  const rows = await many<{ number: bigint; payload: Buffer }>(
    pool,
    sql`select number, payload from outbox where feed = ${feed} order by number`,
  );
  return rows.map(({ number, payload }) => [number, Money.decode(payload).minorUnits]);
}

const publishCent = (tx: Transaction, amount: bigint, feed = FEED): void =>
  publish(tx, { feed, event: Money, message: cents(amount) });

/** Runs after the entries of the transaction are written, before its commit. */
const whenWritten = (tx: Transaction, work: () => Promise<unknown>): void =>
  beforeCommit(tx, async () => {
    await work();
  }, [undefined]);

test("a transaction that commits late gets its numbers late, and makes no other transaction wait before its commit", async () => {
  const isPublished = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const slow = inTransaction(pool, async (tx) => {
    publishCent(tx, 1n);
    isPublished.resolve();
    await mayCommit.promise;
  });
  await isPublished.promise;
  await publishCents(pool, [2n]);
  mayCommit.resolve();
  await slow;

  expect(await numbered()).toEqual([
    [1n, 2n],
    [2n, 1n],
  ]);
});

test("a process that ends before its commit leaves no gap and no lock", async () => {
  await publishCents(pool, [1n]);
  const ended = inTransaction(other, async (tx) => {
    publishCent(tx, 2n);
    const { pid } = await one<{ pid: number }>(tx, sql`select pg_backend_pid() as pid`);
    whenWritten(tx, () => one(pool, sql`select pg_terminate_backend(${pid})`));
  });
  await expect(ended).rejects.toThrow();
  await publishCents(pool, [3n]);

  expect(await numbered()).toEqual([
    [1n, 1n],
    [2n, 3n],
  ]);
});

test("transactions that publish to two feeds in opposite order do not wait for each other in a ring", async () => {
  const COUNT = 25;
  const publishBoth = (on: Pool, feeds: readonly string[]): Promise<void> =>
    inTransaction(on, async (tx) => {
      for (const feed of feeds) publishCent(tx, 1n, feed);
    });
  const writers = [
    { on: pool, feeds: [FEED, NOTES] },
    { on: other, feeds: [NOTES, FEED] },
  ];

  await Promise.all(
    writers.map(async ({ on, feeds }) => {
      for (let count = 0; count < COUNT; count += 1) await publishBoth(on, feeds);
    }),
  );

  expect(await numbered()).toHaveLength(2 * COUNT);
  expect(await numbered(NOTES)).toHaveLength(2 * COUNT);
});

test("with concurrent writers of two replicas a reader that sees a number sees all below it, at any time", async () => {
  const [WRITERS, COUNT] = [8, 25];
  let isWriting = true;
  const looks: { readonly last: bigint; readonly count: bigint }[] = [];
  const reader = async (): Promise<void> => {
    while (isWriting) {
      looks.push(
        await one(
          pool,
          sql`select coalesce(max(number), 0) as last, count(*) as count from outbox where feed = ${FEED}`,
        ),
      );
    }
  };
  const reading = reader();
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const on = writer % 2 === 0 ? pool : other;
    for (let count = 0; count < COUNT; count += 1) {
      const undone = inTransaction(on, async (tx) => {
        publishCent(tx, BigInt(writer * 1_000 + count));
        if (count % 7 === 0) whenWritten(tx, () => Promise.reject(new Error("undone")));
      });
      await undone.catch(() => publishCents(on, [BigInt(writer * 1_000 + count)]));
    }
  });
  await Promise.all(writers);
  isWriting = false;
  await reading;

  const rows = await numbered();
  expect(rows.map(([number]) => number)).toEqual(
    Array.from({ length: WRITERS * COUNT }, (_, index) => BigInt(index + 1)),
  );
  for (let writer = 0n; writer < WRITERS; writer += 1n) {
    const own = rows.map(([, amount]) => amount).filter((amount) => amount / 1_000n === writer);
    expect(own).toEqual(own.toSorted((left, right) => Number(left - right)));
  }
  expect(looks.length).toBeGreaterThan(10);
  expect(looks.filter(({ last, count }) => last !== count)).toEqual([]);
});
