import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Client } from "pg";
import { StartupError } from "../process/startup-error.ts";
import { applyMigration, LOCK_TRIES, type LockTries, listMigrations, type MigrationFile } from "./apply-migration.ts";
import { DATABASE_IDENTITY } from "./database-identity.ts";
import { connectToMigrate } from "./migration-client.ts";
import { schemaName } from "./pool.ts";
import { many, maybeOne, one, sql } from "./query.ts";

export type SchemaOptions = {
  readonly url: string;
  readonly schema: string;
  /** Holds 0001_what.sql, 0002_what.sql ..., which may include files of the kernel. */
  readonly folder: string | URL;
};

export type MigrateOptions = SchemaOptions & {
  /** For tests, which do not wait as long. */
  readonly lockTries?: LockTries;
};

type Applied = { readonly version: number; readonly name: string; readonly sha256: string };

/** How long a process waits for another one that migrates the same schema. */
const MIGRATOR_WAIT_MS = 120_000;
const MIGRATOR_POLL_MS = 100;

const APPEND_ONLY = readFileSync(new URL("append-only.sql", import.meta.url), "utf8");

/**
 * Brings a schema up to the newest file, forward only, each file in a transaction of its own unless it builds an index beside the
 * writers. Any number of processes may do this at once. Returns the names that this call applied.
 *
 * A schema that is ahead of the folder is accepted: an older process may start while a newer one is being rolled out.
 */
export async function migrate({ lockTries = LOCK_TRIES, ...options }: MigrateOptions): Promise<string[]> {
  const { url, schema } = options;
  const files = filesOf(options);
  const client = await connectToMigrate(url, schema);
  try {
    await becomeMigrator(client, schema);
    await prepareSchema(client, schema);
    const pending = pendingOf(files, await listApplied(client));
    for (const file of pending) await applyMigration(client, file, lockTries);
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** The files that the schema lacks, by name; changes nothing. */
export async function listMissingMigrations(client: Client, options: SchemaOptions): Promise<string[]> {
  const files = filesOf(options);
  const applied = (await isPrepared(client, options.schema)) ? await listApplied(client) : [];
  return pendingOf(files, applied).map(({ name }) => name);
}

function filesOf({ folder }: SchemaOptions): MigrationFile[] {
  return listMigrations(typeof folder === "string" ? pathToFileURL(`${folder}/`) : folder);
}

/**
 * Released by the end of the connection, also when this process dies. The lock is polled: a waiting statement holds a snapshot, for whose
 * end the migrator would wait while it builds an index.
 */
async function becomeMigrator(client: Client, schema: string): Promise<void> {
  const key = `migrate ${schema}`;
  for (const until = performance.now() + MIGRATOR_WAIT_MS; performance.now() < until;) {
    const { isLocked } = await one<{ isLocked: boolean }>(
      client,
      sql`select pg_try_advisory_lock(hashtextextended(${key}, 0)) as "isLocked"`,
    );
    if (isLocked) return;
    await sleep(MIGRATOR_POLL_MS);
  }
  throw new StartupError(`another process migrates schema ${schema}: start again when it has finished`);
}

/** Checks before it creates, because `if not exists` needs the privilege to create even when nothing is created. */
async function prepareSchema(client: Client, schema: string): Promise<void> {
  const found = await maybeOne(client, sql`select from pg_namespace where nspname = ${schema}`);
  if (found === undefined) await client.query(`create schema ${schemaName(schema)}`);
  if (await isPrepared(client, schema)) return;
  await client.query(`
    create table schema_migration (
      version    integer primary key,
      name       text not null,
      sha256     text not null,
      applied_at timestamptz not null default clock_timestamp()
    );
    ${APPEND_ONLY}
    select withhold('insert, update, delete', 'schema_migration');
    ${DATABASE_IDENTITY}`);
}

async function isPrepared(client: Client, schema: string): Promise<boolean> {
  const found = await maybeOne(
    client,
    sql`select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where nspname = ${schema} and relname = 'schema_migration'`,
  );
  return found !== undefined;
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
      throw new StartupError(
        `${name} was edited after it was applied: restore it and add a new migration instead, or, with data of an ` +
          "unreleased version, start with an empty database",
      );
    }
  }
  return files.slice(applied.length);
}
