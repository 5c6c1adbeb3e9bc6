import { expect, test } from "vitest";
import { emptyDatabase, type TestDatabase } from "#test/support/database.ts";
import { migrate } from "./migrate.ts";
import { isSameDatabase, readDatabase } from "./database-identity.ts";
import { createPool, type Pool } from "./pool.ts";
import { execute, many, one, sql } from "./query.ts";

const SCHEMA = "coins";

async function aSchema(): Promise<TestDatabase> {
  const database = await emptyDatabase("elsewhere");
  await addSchema(database, SCHEMA);
  return database;
}

async function addSchema({ url }: TestDatabase, schema: string): Promise<void> {
  await migrate({ url, schema, folder: new URL("./testing/coins/", import.meta.url) });
}

/** The connections of a process that starts now. */
function start({ url }: TestDatabase, schema = SCHEMA): Pool {
  return createPool({ url, schema, applicationName: "test", max: 4, raisesIds: true });
}

async function insertInto(pool: Pool, table: "coin" | "outbox"): Promise<bigint> {
  const insert =
    table === "coin"
      ? sql`insert into coin default values returning id`
      : sql`insert into outbox default values returning id`;
  return (await one<{ id: bigint }>(pool, insert)).id;
}

async function restore(pool: Pool): Promise<void> {
  await execute(pool, sql`update numbered_database set database = 'before the restore'`);
}

/** An id that a row may have got a minute ago at most. */
const recent = (): bigint => BigInt(Date.now() - Date.UTC(2025, 0, 1) - 60_000) * 16n;

test("ids of a new schema begin at 1 and continue after an ordinary start, and those of feeds begin at the time of day", async () => {
  const database = await aSchema();
  await using first = start(database);
  expect(await insertInto(first, "coin")).toBe(1n);
  const entry = await insertInto(first, "outbox");
  expect(entry).toBeGreaterThan(recent());

  await using second = start(database);
  expect(await insertInto(second, "coin")).toBe(2n);
  expect(await insertInto(second, "outbox")).toBe(entry + 1n);
});

test("after a restore every id is above all that may have been used, once, however many processes start", async () => {
  const database = await aSchema();
  await using before = start(database);
  await insertInto(before, "coin");
  await restore(before);

  await using one = start(database);
  await using other = start(database);
  const ids = await Promise.all([one, other, one, other].map((pool) => insertInto(pool, "coin")));

  const [first = 0n] = ids.toSorted((left, right) => Number(left - right));
  expect(first).toBeGreaterThan(recent());
  expect(new Set(ids).size).toBe(4);
  await using next = start(database);
  expect(await insertInto(next, "coin")).toBe(first + 4n);
});

test("a running process raises the ids with its first connection to the server that has taken over", async () => {
  const database = await aSchema();
  await using running = start(database);
  expect(await insertInto(running, "coin")).toBe(1n);
  await restore(running);
  await using admin = createPool({ url: database.url, schema: SCHEMA, applicationName: "admin", max: 1 });
  await many(
    admin,
    sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'test'`,
  );

  const id = await insertInto(running, "coin").catch(() => insertInto(running, "coin"));

  expect(id).toBeGreaterThan(recent());
});

test("ids that are above the time of day are not set back", async () => {
  const database = await aSchema();
  await using before = start(database);
  await insertInto(before, "coin");
  await execute(before, sql`alter table coin alter column id restart with 4000000000000000`);
  expect(await insertInto(before, "coin")).toBe(4_000_000_000_000_000n);
  await restore(before);

  await using after = start(database);
  expect(await insertInto(after, "coin")).toBe(4_000_000_000_000_001n);
});

test("two schemas of one database have identities of one database, and those of another one do not", async () => {
  const database = await aSchema();
  await addSchema(database, "notes");
  const [coins, notes] = [await identityOf(database), await identityOf(database, "notes")];
  const elsewhere = await identityOf(await aSchema());

  expect(notes).not.toBe(coins);
  expect(isSameDatabase(notes, coins)).toBe(true);
  expect(isSameDatabase(notes, elsewhere)).toBe(false);
});

async function identityOf(database: TestDatabase, schema = SCHEMA): Promise<string> {
  await using pool = start(database, schema);
  return await readDatabase(pool);
}
