import type { ClientBase } from "pg";
import { StartupError } from "../process/startup-error.ts";
import { execute, type Fragment, fragment, matchesRow, maybeOne, one, type Queryable, sql } from "./query.ts";

/**
 * The objects of each schema that distinguish one history of commits from another one. The identifier of the cluster and its timeline change
 * when a standby is promoted and when an archive is recovered, the start of the server when a snapshot of its disk is, the table's file
 * when a dump is restored. The start changes with each restart too, so a restart counts as a restore. All but the file is the same as long
 * as a connection lives, so each connection reads the control file of the server once.
 */
export const DATABASE_IDENTITY = `
  create function database_identity() returns text language plpgsql stable as $$
  declare
    server text := nullif(current_setting('pamm.server', true), '');
  begin
    if server is null then
      select concat_ws('/', system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8),
                       extract(epoch from pg_postmaster_start_time()),
                       (select oid from pg_database where datname = current_database()))
      into server
      from pg_control_system();
      perform set_config('pamm.server', server, false);
    end if;
    return concat_ws('/', server, pg_relation_filenode(to_regclass('schema_migration')));
  end
  $$;
  -- The database in which the ids of the schema were raised last; one row.
  create table numbered_database (
    is_only  boolean primary key default true check (is_only),
    database text not null,
    -- The schemas of all services that were in it, each with the file of its table schema_migration.
    schemas  text not null default ''
  )`;

/** The database of the connection, to notice later that another one, which was restored or has taken over, is in its place. */
export async function readDatabase(db: Queryable): Promise<string> {
  const { database } = await one<{ database: string }>(db, sql`select database_identity() as database`);
  return database;
}

/** The parts of an identity, counted from 0: two of them change with a promotion and with each restart of the server, and each schema has a file of its own. */
const TIMELINE = 1;
const START = 2;
const FILE = 4;

/**
 * Whether a database is the same one after no more than a restart of its server, which loses no commit. Another one is a promoted standby, a
 * recovered archive or a restored dump.
 */
export function isRestartOf(before: string, now: string): boolean {
  return without([START], before) === without([START], now);
}

/** Whether two schemas, read by their services, are in one database. */
export function isSameDatabase(one: string, other: string): boolean {
  return without([FILE], one) === without([FILE], other);
}

function without(parts: readonly number[], identity: string): string {
  return identity
    .split("/")
    .filter((_, part) => !parts.includes(part))
    .join("/");
}

/** Ids are raised to milliseconds since 2025 times this, so fewer rows than this may be inserted in a millisecond on average. */
const IDS_PER_MS = 16;

/** The floor of new ids, from the time of day of the database. */
const FLOOR = fragment`(extract(epoch from clock_timestamp() - timestamptz '2025-01-01Z') * 1000)::bigint * ${IDS_PER_MS}::bigint`;

/**
 * Raises all identity columns of the schema to the time of day, unless it was done in this database. A database that was restored, or a
 * standby that has taken over, may have lost commits: otherwise its new rows would get ids that were used before, as parts of keys and as
 * positions of callers who follow a list. Called for each new connection, because a failover and a restore end all connections. It fails
 * unless the schemas of all services are in this database and were restored together: services do not look for what one of them has lost.
 */
export async function raiseIds(client: ClientBase, schemas: readonly string[]): Promise<void> {
  const files = filesOf(schemas);
  if (await isRaised(client, files)) return;
  await client.query("begin");
  try {
    // Setting a sequence back would give an id twice.
    await one(client, sql`select pg_advisory_xact_lock(hashtextextended('numbered_database', 0))`);
    if (!(await isRaised(client, files))) await raise(client, await requireOneInstant(client, schemas, files));
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

/** Names with files: the catalog has them, whatever the rights on the schemas are. */
function filesOf(schemas: readonly string[]): Fragment {
  return fragment`(
    select coalesce(string_agg(nspname || ':' || pg_relation_filenode(pg_class.oid), ' ' order by nspname), '')
    from pg_class
    join pg_namespace on pg_namespace.oid = relnamespace
    where relname = 'schema_migration' and nspname = any (${schemas}::text[])
  )`;
}

async function isRaised(client: ClientBase, files: Fragment): Promise<boolean> {
  return await matchesRow(
    client,
    sql`select from numbered_database where database = (select database_identity()) and schemas = ${files}`,
  );
}

type Seen = { readonly database: string; readonly schemas: string };

/** The schemas as they are now. A dump that is restored gives a schema another file; an archive and a standby have all files of one instant. */
async function requireOneInstant(client: ClientBase, required: readonly string[], files: Fragment): Promise<string> {
  const { name, ...now } = await one<Seen & { name: string }>(
    client,
    sql`select current_database() as name, database_identity() as database, ${files} as schemas`,
  );
  const present = fileBySchema(now.schemas);
  const missing = required.filter((schema) => !present.has(schema));
  if (missing.length > 0) {
    throw new StartupError(
      `database ${name} has no tables of ${missing.join(", ")}: all services work in one database, migrate all schemas there, or restore it with all of them`,
    );
  }
  const before = await maybeOne<Seen>(client, sql`select database, schemas from numbered_database`);
  if (before === undefined || !isPlaceOf(before.database, now.database)) return now.schemas;
  const known = [...fileBySchema(before.schemas)];
  const restored = known.filter(([schema, file]) => present.get(schema) !== file);
  if (restored.length === 0 || restored.length === known.length) return now.schemas;
  const names = restored.map(([schema]) => schema).join(", ");
  throw new StartupError(
    `in database ${name} only ${names} was restored: restore all schemas to the same instant (docs/operate/restore.md)`,
  );
}

/** Whether both are the same database of one cluster, at any time. */
function isPlaceOf(before: string, now: string): boolean {
  const others = [TIMELINE, START, FILE];
  return without(others, before) === without(others, now);
}

function fileBySchema(schemas: string): ReadonlyMap<string, string> {
  const pairs = schemas === "" ? [] : schemas.split(" ");
  return new Map(pairs.map((pair) => pair.split(":") as [string, string]));
}

/** In a new schema ids begin at 1, except those of feeds: their readers may have followed a schema that was lost. */
async function raise(client: ClientBase, schemas: string): Promise<void> {
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
    sql`insert into numbered_database (database, schemas) values (database_identity(), ${schemas})
        on conflict (is_only) do update set database = excluded.database, schemas = excluded.schemas`,
  );
}
