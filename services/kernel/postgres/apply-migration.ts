import { setTimeout as sleep } from "node:timers/promises";
import { type Client, DatabaseError } from "pg";
import { StartupError } from "../process/startup-error.ts";
import { execute, maybeOne, type Queryable, sql } from "./query.ts";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

export type MigrationFile = {
  readonly version: number;
  readonly name: string;
  readonly sha256: string;
  readonly text: string;
  /** The index that the file builds outside a transaction. */
  readonly index: string | undefined;
};

const FILE_NAME = /^(\d{4})_([a-z0-9_-]+)\.sql$/;
/** As in psql: includes the file with this path, relative to the file that contains the line. */
const INCLUDE = /^\\ir (\S+)$/gm;
/** The first line of a file that is not executed in a transaction. */
const OUTSIDE = /^-- outside a transaction\n/;
const BUILDS_INDEX = /^create (?:unique )?index concurrently ([a-z_][a-z0-9_]*) on [^;]+;?$/;

/** The files of the folder, each with the tables of the kernel that it includes. Their numbers must be 1, 2, 3 ... */
export function listMigrations(folder: URL): MigrationFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  return names.toSorted().map((name, index) => {
    const version = Number(FILE_NAME.exec(name)?.[1]);
    const next = index + 1;
    if (Number.isNaN(version)) throw new StartupError(`${name}: a migration is called 0001_what_it_does.sql`);
    if (version !== next) {
      throw new StartupError(`${name}: the next migration in ${folder.pathname} has number ${next}`);
    }
    const text = readWithIncludes(new URL(name, folder));
    const sha256 = createHash("sha256").update(text).digest("hex");
    return { version, name: name.slice(0, -".sql".length), sha256, text, index: indexOf(name, text) };
  });
}

function readWithIncludes(file: URL): string {
  return readFileSync(file, "utf8").replaceAll(INCLUDE, (_line, path: string) => readWithIncludes(new URL(path, file)));
}

/** Only the building of one index can be resumed after a crash, so nothing else is executed outside a transaction. */
function indexOf(name: string, text: string): string | undefined {
  if (!OUTSIDE.test(text)) return undefined;
  const statement = text
    .replaceAll(/^--.*$/gm, "")
    .trim()
    .replaceAll(/\s+/g, " ")
    .toLowerCase();
  const index = BUILDS_INDEX.exec(statement)?.[1];
  if (index !== undefined) return index;
  throw new StartupError(
    `${name}: outside a transaction, a file has one statement: create index concurrently name on ...`,
  );
}

export type LockTries = { readonly max: number; readonly pauseMs: number };

/** A migration that waits for a lock holds up all later statements on the table, so it gives up sooner than they do (pool.ts). */
const LOCK_TIMEOUT_MS = 300;
/** In the pauses the statements that it held up are executed. A minute of tries outlasts every transaction of the services. */
export const LOCK_TRIES: LockTries = { max: 60, pauseMs: 1_000 };
/** Building an index beside the writers holds up none of them, but waits for the end of every transaction that began before. */
const CONCURRENT_LOCK_TIMEOUT_MS = 600_000;

const LOCK_NOT_AVAILABLE = "55P03";
const DEADLOCK_DETECTED = "40P01";

/** Applies a file and notes that it is applied. */
export async function applyMigration(client: Client, file: MigrationFile, tries: LockTries): Promise<void> {
  try {
    if (file.index === undefined) await applyInTransaction(client, file, tries);
    else await applyConcurrently(client, file, file.index);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(`migration ${file.name} failed: ${reason}`, { cause: error });
  }
}

async function applyInTransaction(client: Client, file: MigrationFile, { max, pauseMs }: LockTries): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await client.query("begin");
    try {
      await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await client.query(file.text);
      await insertApplied(client, file);
      await client.query("commit");
      return;
    } catch (error) {
      await client.query("rollback").catch(() => undefined);
      if (!isLockRefused(error)) throw error;
      if (tries === max) {
        throw new Error(
          `a table stayed locked in ${max} tries: end the transactions that hold it (pg_locks), and start again`,
          { cause: error },
        );
      }
    }
    await sleep(pauseMs);
  }
}

/**
 * A crash leaves the index incomplete, or complete without the note that it is: what is incomplete is built again. The connection of a
 * process that has died holds the migrator's lock until the server has ended its statement.
 */
async function applyConcurrently(client: Client, file: MigrationFile, index: string): Promise<void> {
  const found = await maybeOne<{ isValid: boolean }>(
    client,
    sql`select indisvalid as "isValid" from pg_index where indexrelid = to_regclass(${index})`,
  );
  await client.query(`set lock_timeout = ${CONCURRENT_LOCK_TIMEOUT_MS}`);
  if (found?.isValid === false) await client.query(`drop index concurrently ${index}`);
  if (found?.isValid !== true) await client.query(file.text);
  await client.query("reset lock_timeout");
  await insertApplied(client, file);
}

async function insertApplied(db: Queryable, { version, name, sha256 }: MigrationFile): Promise<void> {
  await execute(db, sql`insert into schema_migration (version, name, sha256) values (${version}, ${name}, ${sha256})`);
}

function isLockRefused(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === LOCK_NOT_AVAILABLE || error.code === DEADLOCK_DETECTED);
}
