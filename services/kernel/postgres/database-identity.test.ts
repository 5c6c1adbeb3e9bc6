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
function start({ url }: TestDatabase, schema = SCHEMA, beside: readonly string[] = []): Pool {
  return createPool({ url, schema, applicationName: "test", max: 4, raisesIds: true, beside });
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

const HOUSE = [SCHEMA, "notes", "stamps"];

async function aHouse(): Promise<TestDatabase> {
  const database = await aSchema();
  for (const schema of HOUSE.slice(1)) await addSchema(database, schema);
  for (const schema of HOUSE) await usedBy(database, schema);
  return database;
}

async function usedBy(database: TestDatabase, schema: string): Promise<bigint> {
  await using pool = start(database, schema, HOUSE);
  return await insertInto(pool, "coin");
}

/** Gives the schemas other files, as a dump does that is restored in the same database. */
async function restoreDump({ url }: TestDatabase, ...schemas: string[]): Promise<void> {
  await using admin = createPool({ url, schema: SCHEMA, applicationName: "admin", max: 1 });
  for (const schema of schemas) await admin.query(`vacuum full ${schema}.schema_migration`);
}

test("a schema without the others in its database is refused, with what to do", async () => {
  const database = await aSchema();
  await addSchema(database, "notes");

  await expect(usedBy(database, SCHEMA)).rejects.toMatchObject({
    name: "StartupError",
    message: `database ${database.name} has no tables of stamps: all services work in one database, migrate all schemas there, or restore it with all of them`,
  });
});

test("a schema that was restored without the others is refused, and so are the others, until all of them are restored", async () => {
  const database = await aHouse();
  await restoreDump(database, "notes");
  for (const schema of HOUSE) {
    await expect(usedBy(database, schema)).rejects.toMatchObject({
      name: "StartupError",
      message: `in database ${database.name} only notes was restored: restore all schemas to the same instant (docs/operate/restore.md)`,
    });
  }

  await restoreDump(database, ...HOUSE.filter((schema) => schema !== "notes"));

  for (const schema of HOUSE) expect(await usedBy(database, schema)).toBeGreaterThan(recent());
});

test("a connection notices that a dump is restored under it, and has an identity also beside the schema", async () => {
  const database = await aHouse();
  await using running = createPool({ url: database.url, schema: SCHEMA, applicationName: "test", max: 1 });
  const before = await readDatabase(running);
  await restoreDump(database, SCHEMA);
  const after = await readDatabase(running);
  await running.query("set search_path = pg_catalog");
  const outside = await running.query<{ identity: string }>(`select ${SCHEMA}.database_identity() as identity`);

  expect(after).not.toBe(before);
  expect(isSameDatabase(after, before)).toBe(true);
  expect(after.startsWith(`${outside.rows[0]?.identity}/`)).toBe(true);
});
