import { readFile } from "node:fs/promises";
import { emptyDatabase, type TestDatabase } from "#test/support/database.ts";

const EVERYWHERE = ["postgres/lease.sql", "feed/feed.sql"];

/** Tables of the kernel and no others: leases, feeds and the files that are named. */
export async function kernelDatabase(schema = "kernel", files: readonly string[] = []): Promise<TestDatabase> {
  const database = await emptyDatabase(schema);
  for (const file of [...EVERYWHERE, ...files]) {
    await database.pool.query(await readFile(new URL(`../${file}`, import.meta.url), "utf8"));
  }
  return database;
}
