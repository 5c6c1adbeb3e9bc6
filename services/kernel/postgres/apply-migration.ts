import { setTimeout as sleep } from "node:timers/promises";
import { type Client, DatabaseError } from "pg";
import { StartupError } from "../startup-error.ts";
import type { MigrationFile } from "./migration-files.ts";
import { execute, maybeOne, type Queryable, sql } from "./query.ts";

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
