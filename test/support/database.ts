import { join } from "node:path";
import pg from "pg";
import { inject, type TestContext, TestRunner } from "vitest";
import { SERVICE_NAMES } from "#kernel/contract/permissions.ts";
import { migrate } from "#kernel/postgres/migrate.ts";
import { createPool, type Pool, type PoolTimeouts } from "#kernel/postgres/pool.ts";
import { ownerOf, roleOf } from "../../deploy/provision/database.ts";
import { asAdmin, makeRoles, urlAs, urlOf } from "./database-server.ts";

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
const IN_USE = "55006";
/** In each try the server itself waits some seconds for the other users of the template. */
const CLONE_TRIES = 20;

/** Databases that a process keeps for later tests, and the connections of each. All processes have those of one server. */
const MAX_KEPT = 5;
const MAX_CONNECTIONS_KEPT = 3;

type Made = Pick<TestDatabase, "url" | "name" | "pool" | "adminUrl" | "admin"> & {
  readonly schema: string;
  /** Statements that empty it again; undefined when it belongs to no service. */
  readonly reset: string | undefined;
};

let made = 0;
/** Databases of earlier tests of this process, emptied; the last one was used last. */
const kept: Made[] = [];
/** Of which tests change more than rows; each by the options of its pool, which all pools of its test share. */
const altered = new WeakSet<Pool["options"]>();

/**
 * A database with the tables of one service and no rows, for one test (or file). It is that of an earlier test of this process when there
 * is one: its connections know the tables and have the plans of statements, which take longer than most tests.
 */
export async function testDatabase(service: string, lifetime = currentTest()): Promise<TestDatabase> {
  const at = lifetime === undefined ? -1 : kept.findLastIndex(({ schema }) => schema === service);
  const [earlier] = at === -1 ? [] : kept.splice(at, 1);
  return lend(earlier ?? (await makeDatabase(service, join(SERVICES, service, "migrations"))), lifetime);
}

/** As `testDatabase`, but of no earlier test: for one that observes where rows are stored. */
export async function newDatabase(service: string): Promise<TestDatabase> {
  const database = await makeDatabase(service, join(SERVICES, service, "migrations"));
  altered.add(database.pool.options);
  return lend(database, currentTest());
}

/** A database with one empty schema. */
export async function emptyDatabase(schema: string): Promise<TestDatabase> {
  return lend(await makeDatabase(schema, undefined), currentTest());
}

/** Of a test that changes definitions or statistics, no other test gets the database. */
export function noteChange({ options }: Pool, text: string): void {
  if (/\b(alter|create|drop|truncate|analyze|vacuum|pg_class)\b/i.test(text)) altered.add(options);
}

function currentTest(): TestLifetime | undefined {
  return TestRunner.getCurrentTest()?.context;
}

async function makeDatabase(schema: string, folder: string | undefined): Promise<Made> {
  const server = inject("postgresUrl");
  const template = await templateOf(schema, folder);
  const name = `test_${inject("runId")}_${schema}_${process.pid}_${(made += 1)}`;
  await asAdmin(server, (admin) => clone(admin, name, template));
  const adminUrl = urlOf(server, name);
  const url = folder === undefined ? adminUrl : urlAs(adminUrl, roleOf(schema));
  const options = { schema, applicationName: "test", max: POOL_MAX, timeouts: PATIENT };
  const pool = createPool({ url, ...options });
  const admin = createPool({ url: adminUrl, ...options });
  const reset = folder === undefined ? undefined : await resetOf(schema, admin);
  return { schema, url, name, pool, adminUrl, admin, reset };
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
      altered.add(pool.options);
      return database.url;
    },
    get adminUrl() {
      altered.add(pool.options);
      return database.adminUrl;
    },
    get admin() {
      altered.add(pool.options);
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
        altered.add(pool.options);
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
  if (altered.has(database.pool.options) || !(await isEmptied(database))) return await drop(database);
  kept.push(database);
  const [oldest] = kept.length > MAX_KEPT ? kept.splice(0, 1) : [];
  if (oldest !== undefined) await drop(oldest);
}

/** False while something still uses the database. */
async function isEmptied({ pool, admin, reset }: Made): Promise<boolean> {
  if (reset === undefined || pool.idleCount < pool.totalCount) return false;
  try {
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
  await asAdmin(inject("postgresUrl"), (admin) => admin.query(`drop database if exists ${name} with (force)`));
}

const resets = new Map<string, Promise<string>>();

/** Read in the first database of a service, before its first test. */
function resetOf(schema: string, admin: Pool): Promise<string> {
  const reset = resets.get(schema) ?? readReset(admin);
  resets.set(schema, reset);
  return reset;
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
function templateOf(schema: string, folder: string | undefined): Promise<string> {
  const name = `template_${inject("runId")}_${folder === undefined ? "empty_" : ""}${schema}`;
  let template = templates.get(name);
  if (template === undefined) {
    template = makeTemplate(name, schema, folder);
    templates.set(name, template);
  }
  return template;
}

async function makeTemplate(name: string, schema: string, folder: string | undefined): Promise<string> {
  const server = inject("postgresUrl");
  await asAdmin(server, async (admin) => {
    await admin.query("select pg_advisory_lock(hashtextextended($1, 0))", [name]);
    const { rowCount } = await admin.query("select from pg_database where datname = $1 and datistemplate", [name]);
    if (rowCount === 1) return;
    // A process that was killed may have left an incomplete template.
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.query(`create database ${name}`);
    if (folder === undefined) await asAdmin(urlOf(server, name), (client) => client.query(`create schema ${schema}`));
    else await migrateAsOwner(server, name, { schema, folder });
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
