import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { emptyDatabase } from "#test/support/database.ts";
import { type MigrateOptions, migrate } from "./migrate.ts";
import { createPool, type Pool } from "./pool.ts";
import { execute, maybeOne, one, sql } from "./query.ts";

const SCHEMA = "funding";
const COIN = "create table coin (id bigint generated always as identity primary key, weight bigint);";
const INDEX = "-- outside a transaction\ncreate index concurrently coin_by_weight on coin (weight);\n";
const FEW_TRIES = { max: 2, pauseMs: 10 };

/** A schema with a table, a second migration that is pending, and the pool of a service that uses the table. */
async function aPendingMigration(second: string): Promise<{ options: MigrateOptions; pool: Pool; reader: pg.Client }> {
  const { adminUrl: url } = await emptyDatabase("elsewhere");
  const folder = await mkdtemp(join(tmpdir(), "migrations-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const options = { url, schema: SCHEMA, folder };
  await writeFile(join(folder, "0001_coin.sql"), COIN);
  await migrate(options);
  await writeFile(join(folder, "0002_more.sql"), second);
  const pool = createPool({ url, schema: SCHEMA, applicationName: "service", max: 2 });
  onTestFinished(() => pool[Symbol.asyncDispose]());
  const reader = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
  // A test terminates it.
  reader.on("error", () => undefined);
  await reader.connect();
  onTestFinished(() => reader.end());
  return { options, pool, reader };
}

async function isMigrationWaiting(pool: Pool): Promise<boolean> {
  const { waiting } = await one<{ waiting: bigint }>(
    pool,
    sql`select count(*) as waiting from pg_stat_activity
        where datname = current_database() and application_name = ${`migrate ${SCHEMA}`} and wait_event_type = 'Lock'`,
  );
  return waiting > 0n;
}

async function indexOf(pool: Pool): Promise<{ oid: number; isValid: boolean } | undefined> {
  return await maybeOne(
    pool,
    sql`select indexrelid::int4 as oid, indisvalid as "isValid" from pg_index where indexrelid = to_regclass('coin_by_weight')`,
  );
}

test("a migration whose table is being read for long holds up no other statement, and succeeds when the reader ends", async () => {
  const { options, pool, reader } = await aPendingMigration("alter table coin add column size bigint;");
  await reader.query("begin");
  await reader.query("select from coin");

  const migrated = migrate({ ...options, lockTries: { max: 100, pauseMs: 50 } });
  // Twice, so that it has given up once.
  for (const wanted of [true, false, true]) await expect.poll(() => isMigrationWaiting(pool)).toBe(wanted);
  // The service gives up a statement that waits longer than half a second.
  for (let row = 0; row < 5; row += 1) await execute(pool, sql`insert into coin (weight) values (${row})`);
  await reader.query("commit");

  expect(await migrated).toEqual(["0002_more"]);
  await execute(pool, sql`insert into coin (size) values (1)`);
});

test("a migration whose table stays locked ends with one line, and leaves nothing", async () => {
  const { options, pool, reader } = await aPendingMigration(
    "create table dime (); alter table coin add column size bigint;",
  );
  await reader.query("begin");
  await reader.query("select from coin");

  await expect(migrate({ ...options, lockTries: FEW_TRIES })).rejects.toThrow(
    "migration 0002_more failed: a table stayed locked in 2 tries: end the transactions that hold it (pg_locks), and start again",
  );

  expect(await maybeOne(pool, sql`select from pg_class where relname = 'dime'`)).toBeUndefined();
});

test("an index is built while a transaction that has written is open, and others write", async () => {
  const { options, pool, reader } = await aPendingMigration(INDEX);
  await reader.query("begin");
  await reader.query("insert into coin (weight) values (1)");

  const migrated = migrate(options);
  await expect.poll(() => isMigrationWaiting(pool)).toBe(true);
  await execute(pool, sql`insert into coin (weight) values (2)`);
  await reader.query("commit");

  expect(await migrated).toEqual(["0002_more"]);
  expect(await indexOf(pool)).toMatchObject({ isValid: true });
});

test("an index that a crash left incomplete is built again, and one that was not noted is kept", async () => {
  const { options, pool, reader } = await aPendingMigration(INDEX);
  await reader.query("begin");
  await reader.query("insert into coin (weight) values (1)");
  const failure = migrate(options).catch((error: unknown) => String(error));
  await expect.poll(() => isMigrationWaiting(pool)).toBe(true);
  await execute(
    pool,
    sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = ${`migrate ${SCHEMA}`}`,
  );
  expect(await failure).toContain("terminating connection");
  await reader.query("commit");
  expect(await indexOf(pool)).toMatchObject({ isValid: false });

  expect(await migrate(options)).toEqual(["0002_more"]);
  const built = await indexOf(pool);
  expect(built).toMatchObject({ isValid: true });

  await execute(pool, sql`delete from schema_migration where version = 2`);
  expect(await migrate(options)).toEqual(["0002_more"]);
  expect(await indexOf(pool)).toEqual(built);
});

test.each([
  ["alter table coin validate constraint x;", "another statement"],
  ["create index concurrently a on coin (id); create index concurrently b on coin (id);", "two statements"],
])("outside a transaction %s is refused: %s", async (statement) => {
  const { options } = await aPendingMigration(`-- outside a transaction\n${statement}`);

  await expect(migrate(options)).rejects.toThrow("0002_more.sql: outside a transaction, a file has one statement");
});
