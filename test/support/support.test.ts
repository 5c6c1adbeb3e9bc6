import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { many, one, sql } from "#kernel/postgres/query.ts";
import { asOwner } from "./as-owner.ts";
import { connectionsOf, emptyDatabase, type TestDatabase, testDatabase } from "./database.ts";
import { SECONDS } from "./longest-first.ts";
import { startOwnNats, testNats } from "./nats.ts";

test("each test database is separate and empty", async () => {
  await using first = await emptyDatabase("example");
  await using second = await emptyDatabase("example");

  await first.pool.query("create table item (name text)");

  expect(await many(second.pool, sql`select to_regclass('item') as item`)).toEqual([{ item: null }]);
  expect(await many(first.pool, sql`select current_schema() as schema`)).toEqual([{ schema: "example" }]);
});

describe("a database of a service is that of an earlier test", () => {
  const insert = sql`insert into profile (kind, operation_id) values ('MASTER', 'one') returning id`;
  const names: string[] = [];
  let before: TestDatabase;

  test("first", async () => {
    before = await testDatabase("account");
    names.push(before.name);
    expect(await one(before.pool, insert)).toEqual({ id: 1n });
  });

  test("with its connections, and without its rows and what it observed", async () => {
    const { name, pool } = await testDatabase("account");
    expect([name]).toEqual(names);
    expect(await one(pool, insert)).toEqual({ id: 1n });
    await expect(one(before.pool, insert)).rejects.toThrow("Cannot use a pool after calling end on the pool");
    // As a process has it that the test starts.
    await asOwner(connectionsOf(pool), "account", "create table note ()");
  });

  test("unless that one has changed its tables", async () => {
    const { name } = await testDatabase("account");
    expect(names).not.toContain(name);
  });
});

test("the shared broker stores the messages of a stream", async () => {
  await using nats = await testNats();
  const manager = await nats.connection.jetstreamManager();

  await manager.streams.add({ name: nats.stream, subjects: [`${nats.prefix}.>`] });
  await nats.connection.jetstream().publish(`${nats.prefix}.one`);

  expect((await manager.streams.info(nats.stream)).state.messages).toBe(1);
});

test("a broker that a test started and killed restarts on the same port", async () => {
  await using nats = await startOwnNats();

  await nats.kill();
  await nats.restart({ wipe: true });

  expect(nats.url).toBe(`nats://127.0.0.1:${nats.port}`);
});

test("the test files that begin first exist", () => {
  expect(Object.keys(SECONDS).filter((file) => !existsSync(join(import.meta.dirname, "../..", file)))).toEqual([]);
});
