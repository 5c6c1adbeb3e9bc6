import { readFile } from "node:fs/promises";
import { emptyDatabase, type TestDatabase } from "#test/support/database.ts";

const ALWAYS = ["postgres/append-only.sql", "postgres/lease.sql", "feed/feed.sql"];

/** A database with the tables of leases, of feeds and of `files`. */
export async function kernelDatabase(schema = "kernel", files: readonly string[] = []): Promise<TestDatabase> {
  const database = await emptyDatabase(schema);
  for (const file of [...ALWAYS, ...files]) {
    await database.pool.query(await readFile(new URL(`../${file}`, import.meta.url), "utf8"));
  }
  return database;
}
