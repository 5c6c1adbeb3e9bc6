import pg from "pg";
import { beforeEach, expect, test, vi } from "vitest";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { execute, many, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { onPublished, publish } from "./publish.ts";
import { cents, FEED } from "../testing/feed.ts";

const { pool } = await kernelDatabase();

beforeEach(async () => {
  await execute(pool, sql`truncate outbox, feed_head`);
});

test("an event is rolled back with its change", async () => {
  const rolledBack = inTransaction(pool, async (tx) => {
    publish(tx, { feed: FEED, event: Money, message: cents(5n) });
    throw new Error("undone");
  });

  await expect(rolledBack).rejects.toThrow("undone");
  expect(await many(pool, sql`select id from outbox`)).toEqual([]);
});

test("events are written by one statement, after all other work of their transaction", async () => {
  const statements: string[] = [];
  const query = vi.spyOn(pg.Client.prototype, "query");
  await inTransaction(pool, async (tx) => {
    publish(tx, { feed: FEED, event: Money, message: cents(1n) });
    publish(tx, { feed: "till.notes", event: Money, message: cents(2n) });
    expect(await many(tx, sql`select id from outbox`)).toEqual([]);
    publish(tx, { feed: FEED, event: Money, message: cents(3n) });
  });
  for (const [statement] of query.mock.calls as unknown as [string | { text: string }][]) {
    statements.push((typeof statement === "string" ? statement : statement.text).split(/\s/)[0] ?? "");
  }
  query.mockRestore();

  expect(statements).toEqual(["begin", "select", "with", "commit"]);
  const rows = await many(pool, sql`select feed, number from outbox order by id`);
  expect(rows).toEqual([
    { feed: FEED, number: 1n },
    { feed: "till.notes", number: 1n },
    { feed: FEED, number: 2n },
  ]);
});

test("a listener gets the entries after the commit, once for a transaction", async () => {
  const received: [string, bigint][][] = [];
  const found: Promise<unknown[]>[] = [];
  using _listening = onPublished(pool, (entries) => {
    received.push(entries.map(({ feed, number }) => [feed, number]));
    found.push(many(pool, sql`select id from outbox`));
  });

  await inTransaction(pool, async (tx) => {
    publish(tx, { feed: FEED, event: Money, message: cents(1n) });
    publish(tx, { feed: "till.notes", event: Money, message: cents(2n) });
    await many(tx, sql`select`);
    expect(received).toEqual([]);
  });

  expect(received).toEqual([
    [
      [FEED, 1n],
      ["till.notes", 1n],
    ],
  ]);
  expect(await found[0]).toHaveLength(2);
});
