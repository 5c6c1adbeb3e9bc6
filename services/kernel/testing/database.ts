import { readFileSync } from "node:fs";
import { databaseOf, type TestDatabase } from "#test/support/database.ts";

const ALWAYS = ["postgres/append-only.sql", "postgres/lease.sql", "feed/feed.sql", "states/state-changes.sql"];

/** A database with the tables of leases, feeds and noted states, those of `files`, and what else `statements` define. */
export async function kernelDatabase(
  schema = "kernel",
  files: readonly string[] = [],
  statements = "",
): Promise<TestDatabase> {
  const texts = [...ALWAYS, ...files].map((file) => readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));
  return await databaseOf(schema, [...texts, statements].join("\n"));
}
