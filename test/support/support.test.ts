import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { emptyDatabase } from "./database.ts";
import { SECONDS } from "./longest-first.ts";
import { startOwnNats, testNats } from "./nats.ts";

test("each test database is separate and empty", async () => {
  await using first = await emptyDatabase("example");
  await using second = await emptyDatabase("example");

  await first.pool.query("create table item (name text)");

  expect(await many(second.pool, sql`select to_regclass('item') as item`)).toEqual([{ item: null }]);
  expect(await many(first.pool, sql`select current_schema() as schema`)).toEqual([{ schema: "example" }]);
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
