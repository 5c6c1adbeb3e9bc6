import { mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyDatabase } from "#test/support/database.ts";
import type { TestDatabase } from "#test/support/database.ts";
import { migrate } from "../postgres/migrate.ts";

/** The tables of the kernel and no others, as each service has them. */
export async function kernelDatabase(schema = "kernel"): Promise<TestDatabase> {
  const database = await emptyDatabase(schema);
  const folder = await mkdtemp(join(tmpdir(), "no-migrations-"));
  await migrate({ url: database.url, schema, folder });
  await rmdir(folder);
  return database;
}
