import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartupError } from "../startup-error.ts";

export type MigrationFile = {
  readonly version: number;
  readonly name: string;
  readonly sha256: string;
  readonly text: string;
};

const FILE_NAME = /^(\d{4})_([a-z0-9_-]+)\.sql$/;
/** The outbox, cursors and leases that every service has, before its own tables. */
const FEED_TABLES = fileURLToPath(new URL("../feed/feed.sql", import.meta.url));

/** The kernel's tables as number 0, then the files of the folder, whose numbers must be 1, 2, 3 ... */
export async function listMigrations(folder: string): Promise<MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
  const migrations = [await readMigration(FEED_TABLES, 0, "0000_feed")];
  for (const name of names) {
    const version = Number(FILE_NAME.exec(name)?.[1]);
    const next = migrations.length;
    if (Number.isNaN(version)) throw new StartupError(`${name}: a migration is called 0001_what_it_does.sql`);
    if (version !== next) throw new StartupError(`${name}: the next migration in ${folder} has number ${next}`);
    migrations.push(await readMigration(join(folder, name), version, name.slice(0, -".sql".length)));
  }
  return migrations;
}

async function readMigration(path: string, version: number, name: string): Promise<MigrationFile> {
  const text = await readFile(path, "utf8");
  return { version, name, sha256: createHash("sha256").update(text).digest("hex"), text };
}
