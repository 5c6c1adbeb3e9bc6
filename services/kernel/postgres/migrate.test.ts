import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { emptyDatabase } from "#test/support/database.ts";
import { expect, test } from "vitest";
import { migrate } from "./migrate.ts";
import { createPool } from "./pool.ts";
import { many, sql } from "./query.ts";

const COIN = "create table coin (id bigint primary key);";
const SCHEMA = "funding";

async function folderOf(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), "migrations-"));
  const write = async (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
  await Promise.all(Object.entries(files).map(([name, text]) => write(name, text)));
  return { folder, write, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

test("a schema is created, each file is applied once, and an edited one is refused", async () => {
  await using database = await emptyDatabase("elsewhere");
  await using files = await folderOf({ "0001_coin.sql": COIN, "README.md": "not a migration" });
  const options = { url: database.url, schema: SCHEMA, folder: files.folder };

  expect(await migrate(options)).toEqual(["0001_coin"]);
  await files.write("0002_weight.sql", "alter table coin add column weight bigint; insert into coin values (1, 5);");
  expect(await migrate(options)).toEqual(["0002_weight"]);
  expect(await migrate(options)).toEqual([]);

  await using pool = createPool({ url: database.url, schema: SCHEMA, applicationName: "test", max: 1 });
  expect(await many(pool, sql`select version, name from schema_migration order by version`)).toEqual([
    { version: 1, name: "0001_coin" },
    { version: 2, name: "0002_weight" },
  ]);
  expect(await many(pool, sql`select * from coin`)).toEqual([{ id: 1n, weight: 5n }]);
  await files.write("0001_coin.sql", `${COIN} -- better`);
  await expect(migrate(options)).rejects.toThrow("0001_coin was edited after it was applied");
});

test("many processes that start at the same time migrate once", async () => {
  await using database = await emptyDatabase("elsewhere");
  await using files = await folderOf({ "0001_coin.sql": `select pg_sleep(0.05); ${COIN}` });
  const runs = Array.from({ length: 6 }, () => migrate({ url: database.url, schema: SCHEMA, folder: files.folder }));

  const applied = await Promise.all(runs);

  expect(applied.flat()).toEqual(["0001_coin"]);
});

test("a file includes tables of another file, which must not be edited either", async () => {
  await using database = await emptyDatabase("elsewhere");
  await using shared = await folderOf({ "coin.sql": COIN });
  await using files = await folderOf({
    "0001_purse.sql": `-- of another folder\n\\ir ../${basename(shared.folder)}/coin.sql\ncreate table purse (coin bigint references coin);`,
  });
  const options = { url: database.url, schema: SCHEMA, folder: files.folder };
  expect(await migrate(options)).toEqual(["0001_purse"]);

  await using pool = createPool({ url: database.url, schema: SCHEMA, applicationName: "test", max: 1 });
  expect(await many(pool, sql`select * from purse join coin on coin.id = purse.coin`)).toEqual([]);
  await shared.write("coin.sql", `${COIN} -- better`);
  await expect(migrate(options)).rejects.toThrow("0001_purse was edited after it was applied");
});

test("a gap, a repeated number and an invalid name are refused before any file is applied", async () => {
  await using gap = await folderOf({ "0001_coin.sql": COIN, "0003_dime.sql": COIN });
  await using repeated = await folderOf({ "0001_coin.sql": COIN, "0001_dime.sql": COIN });
  await using invalid = await folderOf({ "0001_coin.sql": COIN, "2_dime.sql": COIN });
  const migrateFrom = (folder: string) => migrate({ url: "postgres://unknown@127.0.0.1:1/x", schema: SCHEMA, folder });

  await expect(migrateFrom(gap.folder)).rejects.toThrow("0003_dime.sql: the next migration");
  await expect(migrateFrom(repeated.folder)).rejects.toThrow("0001_dime.sql: the next migration");
  await expect(migrateFrom(invalid.folder)).rejects.toThrow("2_dime.sql: a migration is called");
});

test("a database that cannot be reached is reported in one line, without its password", async () => {
  await using files = await folderOf({ "0001_coin.sql": COIN });
  const url = "postgres://app:hunter2@127.0.0.1:1/pamm";

  const failure = migrate({ url, schema: SCHEMA, folder: files.folder });

  await expect(failure).rejects.toMatchObject({
    name: "StartupError",
    message:
      "Postgres at 127.0.0.1:1, database pamm, cannot be used (connect ECONNREFUSED 127.0.0.1:1): start it or correct its URL",
  });
});

test("a file that fails is rolled back, and the error contains its name", async () => {
  await using database = await emptyDatabase("elsewhere");
  await using files = await folderOf({
    "0001_coin.sql": COIN,
    "0002_dime.sql": "create table dime (); select nonsense;",
  });
  const options = { url: database.url, schema: SCHEMA, folder: files.folder };

  await expect(migrate(options)).rejects.toThrow('migration 0002_dime failed: column "nonsense" does not exist');

  await files.write("0002_dime.sql", "create table dime ();");
  expect(await migrate(options)).toEqual(["0002_dime"]);
});

test("a newer schema is accepted, so that an older process can start during a rollout", async () => {
  await using database = await emptyDatabase("elsewhere");
  await using newer = await folderOf({ "0001_coin.sql": COIN, "0002_dime.sql": "create table dime ();" });
  await using older = await folderOf({ "0001_coin.sql": COIN });
  await migrate({ url: database.url, schema: SCHEMA, folder: newer.folder });

  expect(await migrate({ url: database.url, schema: SCHEMA, folder: older.folder })).toEqual([]);
});
