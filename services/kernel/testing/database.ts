import { readFile } from "node:fs/promises";
import { emptyDatabase, type TestDatabase } from "#test/support/database.ts";

const ALWAYS = ["postgres/append-only.sql", "postgres/lease.sql", "feed/feed.sql", "states/state-changes.sql"];

/** A database with the tables of leases, feeds and noted states, and those of `files`. */
export async function kernelDatabase(schema = "kernel", files: readonly string[] = []): Promise<TestDatabase> {
  const database = await emptyDatabase(schema);
  for (const file of [...ALWAYS, ...files]) {
    await database.pool.query(await readFile(new URL(`../${file}`, import.meta.url), "utf8"));
  }
  return database;
}
