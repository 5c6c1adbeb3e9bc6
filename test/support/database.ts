import { createHash } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { inject, type TestContext, TestRunner } from "vitest";
import { SERVICE_NAMES } from "#catalogue/services.ts";
import { migrate } from "#kernel/postgres/migrate.ts";
import { createPool, type Pool, type PoolTimeouts } from "#kernel/postgres/pool.ts";
import { ownerOf, roleOf, withClient } from "../../deploy/provision/database.ts";
import { makeRoles, urlAs, urlOf } from "./database-server.ts";

export type TestDatabase = AsyncDisposable & {
  /** Connects as the service does, and to an empty schema as the superuser. */
  readonly url: string;
  readonly name: string;
  readonly pool: Pool;
  /** Connects as the superuser, for what no code of the service can do. */
  readonly adminUrl: string;
  readonly admin: Pool;
};

/** Ends what a test made. A concurrent test passes its own context, because more than one test is current then. */
export type TestLifetime = Pick<TestContext, "onTestFinished">;

const SERVICES = join(import.meta.dirname, "../../services");
/** A few more than a service has by default: a test also reads while the code under test holds transactions. */
const POOL_MAX = 10;
/** A machine that stands still for some seconds fails no test. */
export const PATIENT: PoolTimeouts = { statementMs: 20_000, idleInTransactionMs: 20_000, connectMs: 20_000 };
/** Of objects that are not those of the server itself. */
const FIRST_OID = 16_384;
const CATALOGS = [
  ["pg_class", "oid"],
  ["pg_attribute", "attrelid"],
  ["pg_constraint", "oid"],
  ["pg_trigger", "oid"],
  ["pg_proc", "oid"],
] as const;
const IN_USE = "55006";
/** In each try the server itself waits some seconds for the other users of the template. */
const CLONE_TRIES = 20;

/** Databases that a process keeps for later tests, and the connections of each. All processes have those of one server. */
const MAX_KEPT = 5;
const MAX_CONNECTIONS_KEPT = 3;

/** What a database has before its first test. */
type Definition = {
  readonly schema: string;
  /** Distinguishes the templates of one schema. */
  readonly template: string;
  /** Prepares a new database of a server. */
  readonly prepare: (server: string, database: string) => Promise<void>;
  /** The user of its pools; the superuser when not given. */
  readonly role?: string;
};

type Made = Pick<TestDatabase, "url" | "name" | "pool" | "adminUrl" | "admin"> & {
  readonly definition: Definition;
  readonly contents: Contents;
};

type Contents = {
  /** Statements that empty it again. */
  readonly reset: string;
  /** Of its definitions and statistics, before a test has changed some. */
  readonly catalog: string;
};

let made = 0;
/** Databases of earlier tests of this process, emptied; the last one was used last. */
const kept: Made[] = [];
/** Of which a test has more than the pool; each by the options of its pool, which all pools of its test share. */
const exposed = new WeakSet<Pool["options"]>();

/**
 * A database with the tables of one service and no rows, for one test (or file). It is that of an earlier test of this process when there
 * is one: its connections know the tables and have the plans of statements, which take longer than most tests.
 */
export async function testDatabase(service: string, lifetime = currentTest()): Promise<TestDatabase> {
  return await keptDatabase(ofService(service), lifetime);
}

/** As `testDatabase`, with one schema that these statements define. */
export async function databaseOf(schema: string, statements: string): Promise<TestDatabase> {
  return await keptDatabase(ofStatements(schema, statements), currentTest());
}

async function keptDatabase(definition: Definition, lifetime: TestLifetime | undefined): Promise<TestDatabase> {
  const isSame = (one: Made): boolean => one.definition.template === definition.template;
  const at = lifetime === undefined ? -1 : kept.findLastIndex(isSame);
  const [earlier] = at === -1 ? [] : kept.splice(at, 1);
  return lend(earlier ?? (await makeDatabase(definition)), lifetime);
}

/** As `testDatabase`, but of no earlier test: for one that observes where rows are stored. */
export async function newDatabase(service: string): Promise<TestDatabase> {
  return await ownDatabase(ofService(service));
}

/** A database with one empty schema. */
export async function emptyDatabase(schema: string): Promise<TestDatabase> {
  return await ownDatabase(ofStatements(schema, ""));
}

async function ownDatabase(definition: Definition): Promise<TestDatabase> {
  const database = await makeDatabase(definition);
  exposed.add(database.pool.options);
  return lend(database, currentTest());
}

function ofService(service: string): Definition {
  const folder = join(SERVICES, service, "migrations");
  return {
    schema: service,
    template: service,
    prepare: (server, database) => migrateAsOwner(server, database, { schema: service, folder }),
    role: roleOf(service),
  };
}

function ofStatements(schema: string, statements: string): Definition {
  const hash = createHash("sha256").update(statements).digest("hex").slice(0, 8);
  return {
    schema,
    template: `${schema}_${hash}`,
    prepare: (server, database) =>
      withClient(
        urlOf(server, database),
        async (client) =>
          void (await client.query(`create schema ${schema}; set search_path = ${schema}; ${statements}`)),
      ),
  };
}

function currentTest(): TestLifetime | undefined {
  return TestRunner.getCurrentTest()?.context;
}

async function makeDatabase(definition: Definition): Promise<Made> {
  const server = inject("postgresUrl");
  const { schema, role } = definition;
  const template = await templateOf(definition);
  const name = `test_${inject("runId")}_${schema}_${process.pid}_${(made += 1)}`;
  await withClient(server, (admin) => clone(admin, name, template));
  const adminUrl = urlOf(server, name);
  const url = role === undefined ? adminUrl : urlAs(adminUrl, role);
  const options = { schema, applicationName: "test", max: POOL_MAX, timeouts: PATIENT };
  const pool = createPool({ url, ...options });
  const admin = createPool({ url: adminUrl, ...options });
  return { definition, url, name, pool, adminUrl, admin, contents: await contentsOf(template, admin) };
}

function lend(database: Made, lifetime: TestLifetime | undefined): TestDatabase {
  const { name } = database;
  const pool = connectionsOf(database.pool);
  lifetime?.onTestFinished(async ({ task }) => {
    await pool.end();
    await giveBack(database, task);
  });
  return {
    name,
    pool,
    // Who connects otherwise than as the service may do anything, and may still be connected.
    get url() {
      exposed.add(pool.options);
      return database.url;
    },
    get adminUrl() {
      exposed.add(pool.options);
      return database.adminUrl;
    },
    get admin() {
      exposed.add(pool.options);
      return database.admin;
    },
    async [Symbol.asyncDispose]() {
      await pool.end();
      if (lifetime === undefined) await drop(database);
    },
  };
}

type OnConnection = (error: Error | undefined, client: pg.PoolClient | undefined, done: () => void) => void;

/**
 * A pool as one process has it, or one test: it gets no connection after its end, and what a test spies on is not seen by another one. A test
 * that listens to its connections may change them.
 */
export function connectionsOf(pool: Pool): Pool {
  let isEnded = false;
  const end = async (): Promise<void> => void (isEnded = true);
  const connect = (callback?: OnConnection): unknown => {
    if (!isEnded) return callback === undefined ? pool.connect() : pool.connect(callback);
    const error = new Error("Cannot use a pool after calling end on the pool");
    return callback === undefined ? Promise.reject(error) : callback(error, undefined, () => undefined);
  };
  return Object.create(pool, {
    connect: { value: connect, writable: true, configurable: true },
    end: { value: end, configurable: true },
    ending: { get: () => isEnded },
    on: {
      value(...listener: Parameters<Pool["on"]>) {
        exposed.add(pool.options);
        return pool.on(...listener);
      },
    },
    [Symbol.asyncDispose]: { value: end },
  }) as Pool;
}

async function giveBack(database: Made, task: TestContext["task"]): Promise<void> {
  const { adminUrl } = database;
  // The database of a failed test is kept for debugging.
  if (task.result?.state === "fail") {
    process.stderr.write(
      `the database of "${task.name}" stays as long as its server (watch mode, DATABASE_URL): ${adminUrl}\n`,
    );
    return await close(database);
  }
  if (exposed.has(database.pool.options) || !(await isEmptied(database))) return await drop(database);
  kept.push(database);
  const [oldest] = kept.length > MAX_KEPT ? kept.splice(0, 1) : [];
  if (oldest !== undefined) await drop(oldest);
}

/** False while something still uses the database. */
async function isEmptied({ pool, admin, contents: { reset, catalog } }: Made): Promise<boolean> {
  if (pool.idleCount < pool.totalCount) return false;
  try {
    if ((await readCatalog(admin)) !== catalog) return false;
    await admin.query(reset);
    const clients = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()));
    for (const [index, client] of clients.entries()) client.release(index >= MAX_CONNECTIONS_KEPT);
    return true;
  } catch {
    return false;
  }
}

async function close({ pool, admin }: Made): Promise<void> {
  await pool[Symbol.asyncDispose]();
  await admin[Symbol.asyncDispose]();
}

async function drop(database: Made): Promise<void> {
  await close(database);
  const { name } = database;
  await withClient(inject("postgresUrl"), (admin) => admin.query(`drop database if exists ${name} with (force)`));
}

const contents = new Map<string, Promise<Contents>>();

/** Read in the first database of a template, before its first test. */
function contentsOf(template: string, admin: Pool): Promise<Contents> {
  const read = contents.get(template) ?? readContents(admin);
  contents.set(template, read);
  return read;
}

async function readContents(admin: Pool): Promise<Contents> {
  return { reset: await readReset(admin), catalog: await readCatalog(admin) };
}

/** Another text after each change of definitions or statistics, which makes new rows of the catalogs or removes some. */
async function readCatalog(admin: Pool): Promise<string> {
  const rows = CATALOGS.map(
    ([catalog, id]) =>
      `(select concat(count(*), '/', max(xmin::text::bigint)) from ${catalog} where ${id} >= ${FIRST_OID})`,
  );
  const tuples = `(select sum(reltuples) from pg_class where oid >= ${FIRST_OID})`;
  const { rows: found } = await admin.query<{ read: string }>(
    `select concat_ws(' ', ${[...rows, tuples].join(", ")}) as read`,
  );
  return found[0]?.read ?? "";
}

/** Statements that delete all rows but those that are there, and set sequences back. Triggers and foreign keys are not observed. */
async function readReset(admin: Pool): Promise<string> {
  const { rows: tables } = await admin.query<{ name: string; columns: string }>(
    `select format('%I.%I', nspname, relname) as name,
            (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
             where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind = 'r' and nspname !~ '^(pg_|information_schema$)'`,
  );
  const statements = ["set local session_replication_role = replica"];
  for (const { name, columns } of tables) {
    statements.push(`delete from ${name}`);
    const { rows } = await admin.query<{ all: string | null }>(`select json_agg(row)::text as all from ${name} as row`);
    const all = rows[0]?.all ?? null;
    if (all === null) continue;
    statements.push(
      `insert into ${name} (${columns}) overriding system value
       select ${columns} from json_populate_recordset(null::${name}, ${pg.escapeLiteral(all)})`,
    );
  }
  const { rows: sequences } = await admin.query<{ set: string }>(
    `select format('select setval(%L, %s, %L)', format('%I.%I', schemaname, sequencename),
                   coalesce(last_value, start_value), last_value is not null) as set
     from pg_sequences`,
  );
  return ["begin", ...statements, ...sequences.map(({ set }) => set), "commit"].join(";\n");
}

async function clone(admin: pg.Client, name: string, template: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await admin.query(`create database ${name} template ${template} strategy file_copy`);
      return;
    } catch (error) {
      // Another test process clones the template at this moment, or autovacuum has it open.
      const isBusy = error instanceof Error && "code" in error && error.code === IN_USE;
      if (!isBusy || tries === CLONE_TRIES) throw error;
    }
  }
}

const templates = new Map<string, Promise<string>>();

/** The first test process makes the template under an advisory lock; the others wait. */
function templateOf(definition: Definition): Promise<string> {
  const name = `template_${inject("runId")}_${definition.template}`;
  let template = templates.get(name);
  if (template === undefined) {
    template = makeTemplate(name, definition);
    templates.set(name, template);
  }
  return template;
}

async function makeTemplate(name: string, { prepare }: Definition): Promise<string> {
  const server = inject("postgresUrl");
  await withClient(server, async (admin) => {
    await admin.query("select pg_advisory_lock(hashtextextended($1, 0))", [name]);
    const { rowCount } = await admin.query("select from pg_database where datname = $1 and datistemplate", [name]);
    if (rowCount === 1) return;
    // A process that was killed may have left an incomplete template.
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.query(`create database ${name}`);
    await prepare(server, name);
    await admin.query(`alter database ${name} allow_connections false is_template true`);
  });
  return name;
}

async function migrateAsOwner(
  server: string,
  database: string,
  { schema, folder }: { readonly schema: string; readonly folder: string },
): Promise<void> {
  await makeRoles(server, database);
  const asOwner = (name: string): string => urlAs(urlOf(server, database), ownerOf(name));
  await migrate({ url: asOwner(schema), schema, folder });
  // No service starts in a database without the schemas of the others: they are empty, as this folder has no migrations.
  for (const other of SERVICE_NAMES) {
    if (other !== schema) await migrate({ url: asOwner(other), schema: other, folder: import.meta.dirname });
  }
}
