import { existsSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { inject, type TestContext, TestRunner } from "vitest";
import { migrate } from "#kernel/postgres/migrate.ts";
import { createPool, type Pool, type PoolTimeouts } from "#kernel/postgres/pool.ts";
import { asAdmin, urlOf } from "./database-server.ts";

export type TestDatabase = AsyncDisposable & {
  /** Connects as the superuser; the tables are in the schema named after the service. */
  readonly url: string;
  readonly name: string;
  readonly pool: Pool;
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
  return makeDatabase(service, await templateOf(service, existsSync(folder) ? folder : undefined), lifetime);
}

/** A database with one empty schema. */
export async function emptyDatabase(schema: string): Promise<TestDatabase> {
  return makeDatabase(schema, await templateOf(schema, undefined), currentTest());
}

function currentTest(): TestLifetime | undefined {
  return TestRunner.getCurrentTest()?.context;
}

async function makeDatabase(
  schema: string,
  template: string,
  lifetime: TestLifetime | undefined,
): Promise<TestDatabase> {
  const server = inject("postgresUrl");
  const name = `test_${inject("runId")}_${schema}_${process.pid}_${(made += 1)}`;
  await asAdmin(server, (admin) => clone(admin, name, template));
  const url = urlOf(server, name);
  const pool = createPool({ url, schema, applicationName: "test", max: POOL_MAX, timeouts: PATIENT });
  const drop = () => asAdmin(server, (admin) => admin.query(`drop database if exists ${name} with (force)`));
  // The database of a failed test is kept for debugging.
  lifetime?.onTestFinished(async ({ task }) => {
    await pool[Symbol.asyncDispose]();
    if (task.result?.state !== "fail") await drop();
    else {
      process.stderr.write(
        `the database of "${task.name}" stays as long as its server (watch mode, DATABASE_URL): ${url}\n`,
      );
    }
  });
  return {
    url,
    name,
    pool,
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
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
    await fill(urlOf(server, name), schema, folder);
    await admin.query(`alter database ${name} allow_connections false is_template true`);
  });
  return name;
}

async function fill(url: string, schema: string, folder: string | undefined): Promise<void> {
  if (folder !== undefined) await migrate({ url, schema, folder });
  else await asAdmin(url, (client) => client.query(`create schema ${schema}`));
}
