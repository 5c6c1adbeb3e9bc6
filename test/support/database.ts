import { join } from "node:path";
import type pg from "pg";
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

let made = 0;

/** A database with the tables of one service and no rows, for one test (or file): about 15 ms. */
export async function testDatabase(service: string, lifetime = currentTest()): Promise<TestDatabase> {
  const folder = join(SERVICES, service, "migrations");
  return makeDatabase(service, roleOf(service), await templateOf(service, folder), lifetime);
}

/** A database with one empty schema. */
export async function emptyDatabase(schema: string): Promise<TestDatabase> {
  return makeDatabase(schema, undefined, await templateOf(schema, undefined), currentTest());
}

function currentTest(): TestLifetime | undefined {
  return TestRunner.getCurrentTest()?.context;
}

async function makeDatabase(
  schema: string,
  role: string | undefined,
  template: string,
  lifetime: TestLifetime | undefined,
): Promise<TestDatabase> {
  const server = inject("postgresUrl");
  const name = `test_${inject("runId")}_${schema}_${process.pid}_${(made += 1)}`;
  await asAdmin(server, (admin) => clone(admin, name, template));
  const adminUrl = urlOf(server, name);
  const url = role === undefined ? adminUrl : urlAs(adminUrl, role);
  const options = { schema, applicationName: "test", max: POOL_MAX, timeouts: PATIENT };
  const pool = createPool({ url, ...options });
  const admin = createPool({ url: adminUrl, ...options });
  const close = async (): Promise<void> => {
    await pool[Symbol.asyncDispose]();
    await admin[Symbol.asyncDispose]();
  };
  const drop = () => asAdmin(server, (admin) => admin.query(`drop database if exists ${name} with (force)`));
  // The database of a failed test is kept for debugging.
  lifetime?.onTestFinished(async ({ task }) => {
    await close();
    if (task.result?.state !== "fail") await drop();
    else {
      process.stderr.write(
        `the database of "${task.name}" stays as long as its server (watch mode, DATABASE_URL): ${adminUrl}\n`,
      );
    }
  });
  return {
    url,
    name,
    pool,
    adminUrl,
    admin,
    async [Symbol.asyncDispose]() {
      await close();
      if (lifetime === undefined) await drop();
    },
  };
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
