import type { ClientBase } from "pg";
import { execute, fragment, matchesRow, one, type Queryable, sql } from "./query.ts";

/**
 * The objects of each schema that distinguish one history of commits from another one. The identifier of the cluster and its timeline change
 * when a standby is promoted and when an archive is recovered, the start of the server when a snapshot of its disk is, the table's file
 * when a dump is restored. The start changes with each restart too, so a restart counts as a restore.
 */
export const DATABASE_IDENTITY = `
  create function database_identity() returns text language sql stable as $$
    select concat_ws('/', system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8),
                     extract(epoch from pg_postmaster_start_time()),
                     (select oid from pg_database where datname = current_database()),
                     pg_relation_filenode(to_regclass('schema_migration')))
    from pg_control_system()
  $$;
  -- The database in which the ids of the schema were raised last; one row.
  create table numbered_database (
    is_only  boolean primary key default true check (is_only),
    database text not null
  )`;

/** The database of the connection, to notice later that another one, which was restored or has taken over, is in its place. */
export async function readDatabase(db: Queryable): Promise<string> {
  const { database } = await one<{ database: string }>(db, sql`select database_identity() as database`);
  return database;
}

/** The part of an identity that changes with each restart of the server, and the one that each schema has of its own, counted from 0. */
const START = 2;
const FILE = 4;

/**
 * Whether a database is the same one after no more than a restart of its server, which loses no commit. Another one is a promoted standby, a
 * recovered archive or a restored dump.
 */
export function isRestartOf(before: string, now: string): boolean {
  return without(START, before) === without(START, now);
}

/** Whether two schemas, read by their services, are in one database. */
export function isSameDatabase(one: string, other: string): boolean {
  return without(FILE, one) === without(FILE, other);
}

function without(part: number, identity: string): string {
  return identity.split("/").toSpliced(part, 1).join("/");
}

/** Ids are raised to milliseconds since 2025 times this, so fewer rows than this may be inserted in a millisecond on average. */
const IDS_PER_MS = 16;

/** The floor of new ids, from the time of day of the database. */
const FLOOR = fragment`(extract(epoch from clock_timestamp() - timestamptz '2025-01-01Z') * 1000)::bigint * ${IDS_PER_MS}::bigint`;

/**
 * Raises all identity columns of the schema to the time of day, unless it was done in this database. A database that was restored, or a
 * standby that has taken over, may have lost commits: otherwise its new rows would get ids that were used before, as parts of keys and as
 * positions of callers who follow a list. Called for each new connection, because a failover and a restore end all connections.
 */
export async function raiseIds(client: ClientBase): Promise<void> {
  if (await isRaised(client)) return;
  await client.query("begin");
  try {
    // Setting a sequence back would give an id twice.
    await one(client, sql`select pg_advisory_xact_lock(hashtextextended('numbered_database', 0))`);
    if (!(await isRaised(client))) await raise(client);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

async function isRaised(client: ClientBase): Promise<boolean> {
  return await matchesRow(
    client,
    sql`select database from numbered_database where database = (select database_identity())`,
  );
}

/** In a new schema ids begin at 1, except those of feeds: their readers may have followed a schema that was lost. */
async function raise(client: ClientBase): Promise<void> {
  await one(
    client,
    sql`select count(setval(sequence, floor)) as raised
        from (
          select pg_get_serial_sequence(quote_ident(table_name), column_name)::regclass as sequence, ${FLOOR} as floor
          from information_schema.columns
          where table_schema = current_schema() and is_identity = 'YES'
            and (table_name = 'outbox' or exists (select from numbered_database))
        ) as numbered
        where floor > coalesce(pg_sequence_last_value(sequence), 0)`,
  );
  await execute(
    client,
    sql`insert into numbered_database (database) values (database_identity())
        on conflict (is_only) do update set database = excluded.database`,
  );
}
