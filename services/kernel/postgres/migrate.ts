import { pathToFileURL } from "node:url";
import type { Client } from "pg";
import { StartupError } from "../startup-error.ts";
import { DATABASE_IDENTITY } from "./database-identity.ts";
import { connectToMigrate } from "./migration-client.ts";
import { listMigrations, type MigrationFile } from "./migration-files.ts";
import { schemaName } from "./pool.ts";
import { execute, many, maybeOne, one, sql } from "./query.ts";

export type MigrateOptions = {
  readonly url: string;
  readonly schema: string;
  /** Holds 0001_what.sql, 0002_what.sql ..., which may include files of the kernel. */
  readonly folder: string | URL;
};

type Applied = { readonly version: number; readonly name: string; readonly sha256: string };

/**
 * Brings a schema up to the newest file, forward only, each file in a transaction of its own. Any number of processes
 * may do this at once. Returns the names that this call applied.
 *
 * A schema that is ahead of the folder is accepted: an older process may start while a newer one is being rolled out.
 */
export async function migrate({ url, schema, folder }: MigrateOptions): Promise<string[]> {
  const files = listMigrations(typeof folder === "string" ? pathToFileURL(`${folder}/`) : folder);
  const client = await connectToMigrate(url, schema);
  try {
    // Released by the end of the connection, also when this process dies.
    await one(client, sql`select pg_advisory_lock(hashtextextended(${`migrate ${schema}`}, 0))`);
    await prepareSchema(client, schema);
    const pending = pendingOf(files, await listApplied(client));
    for (const file of pending) await apply(client, file);
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Checks before it creates, because `if not exists` needs the privilege to create even when nothing is created. */
async function prepareSchema(client: Client, schema: string): Promise<void> {
  const found = await maybeOne(client, sql`select from pg_namespace where nspname = ${schema}`);
  if (found === undefined) await client.query(`create schema ${schemaName(schema)}`);
  const { exists } = await one<{ exists: boolean }>(
    client,
    sql`select to_regclass(${`${schema}.schema_migration`}) is not null as exists`,
  );
  if (exists) return;
  await client.query(`
    create table schema_migration (
      version    integer primary key,
      name       text not null,
      sha256     text not null,
      applied_at timestamptz not null default clock_timestamp()
    );
    ${DATABASE_IDENTITY}`);
}

function listApplied(client: Client): Promise<Applied[]> {
  return many<Applied>(client, sql`select version, name, sha256 from schema_migration order by version`);
}

function pendingOf(files: readonly MigrationFile[], applied: readonly Applied[]): MigrationFile[] {
  for (const [index, { version, name, sha256 }] of applied.entries()) {
    const file = files[index];
    const expected = index + 1;
    if (version !== expected) throw new StartupError(`schema_migration has no row for version ${expected}: restore it`);
    if (file !== undefined && file.sha256 !== sha256) {
      throw new StartupError(`${name} was edited after it was applied: restore it and add a new migration instead`);
    }
  }
  return files.slice(applied.length);
}

async function apply(client: Client, { version, name, sha256, text }: MigrationFile): Promise<void> {
  await client.query("begin");
  try {
    await client.query(text);
    await execute(
      client,
      sql`insert into schema_migration (version, name, sha256) values (${version}, ${name}, ${sha256})`,
    );
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw new StartupError(`migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
