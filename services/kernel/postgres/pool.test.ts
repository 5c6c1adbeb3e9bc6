import { emptyDatabase } from "#test/support/database.ts";
import type { PoolClient } from "pg";
import { expect, test } from "vitest";
import { isTransient, violatedConstraint } from "./failure.ts";
import { createPool, openConnections, schemaName } from "./pool.ts";
import { execute, many, one, sql } from "./query.ts";
import { inTransaction } from "./transaction.ts";

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

test("each connection uses the schema of its service and has all time-outs", async () => {
  await using database = await emptyDatabase("notes");
  await using pool = createPool({ url: database.url, schema: "funding", applicationName: "funding", max: 2 });
  const settings = await one(
    pool,
    sql`select current_setting('search_path') as search_path, current_setting('statement_timeout') as statement,
               current_setting('lock_timeout') as lock, current_setting('application_name') as name,
               current_setting('idle_in_transaction_session_timeout') as idle`,
  );

  expect(settings).toEqual({ search_path: "funding", statement: "3s", lock: "500ms", idle: "5s", name: "funding" });
});

test("a schema name is a plain identifier", () => {
  for (const name of ["a b", "Funding", "funding,public", "1st", "", "x".repeat(64), "a;"]) {
    expect(() => schemaName(name)).toThrow("not a plain schema name");
  }
});

test("idle connections that the server closes are reported and replaced", async () => {
  await using database = await emptyDatabase("notes");
  const reported: string[] = [];
  const onIdleError = (error: Error): void => void reported.push(error.message);
  await using pool = createPool({ url: database.url, schema: "notes", applicationName: "idle", max: 1, onIdleError });
  await using other = createPool({ url: database.url, schema: "notes", applicationName: "other", max: 1 });
  const { pid } = await one<{ pid: number }>(pool, sql`select pg_backend_pid() as pid`);

  await one(other, sql`select pg_terminate_backend(${pid})`);

  await expect.poll(() => reported).toHaveLength(1);
  await expect(one(pool, sql`select 1 as one`)).resolves.toEqual({ one: 1 });
});

test("every connection is open before the first statement, also when the server refuses some at first", async () => {
  await using database = await emptyDatabase("notes");
  await using pool = createPool({ url: database.url, schema: "notes", applicationName: "opened", max: 3 });
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  let calls = 0;
  const timingOut = Object.assign(pool, {
    async connect(): Promise<PoolClient> {
      calls += 1;
      if (calls === 2) throw new Error("timeout exceeded when trying to connect");
      return await connect();
    },
  });

  await openConnections(timingOut);

  expect([pool.totalCount, pool.idleCount, calls]).toEqual([3, 3, 4]);
});

test("a violated constraint is reported by its name", async () => {
  await using database = await emptyDatabase("notes");
  await using pool = createPool({ url: database.url, schema: "notes", applicationName: "constraint", max: 1 });
  await execute(
    pool,
    sql`create table note (id integer, constraint one_note unique (id), constraint small check (id < 9))`,
  );
  await execute(pool, sql`insert into note values (1)`);

  expect(violatedConstraint(await failureOf(execute(pool, sql`insert into note values (1)`)))).toBe("one_note");
  expect(violatedConstraint(await failureOf(execute(pool, sql`insert into note values (10)`)))).toBe("small");
  expect(violatedConstraint(await failureOf(execute(pool, sql`insert into nothing values (1)`)))).toBeUndefined();
  expect(violatedConstraint(new Error("one_note"))).toBeUndefined();
});

test("a failure of the database is transient, and a defect of the code is not", async () => {
  await using database = await emptyDatabase("notes");
  await using pool = createPool({ url: database.url, schema: "notes", applicationName: "transient", max: 2 });
  const unreachable = createPool({
    url: "postgres://app@localhost:1/x",
    schema: "notes",
    applicationName: "test",
    max: 1,
  });
  await execute(pool, sql`create table note (id integer)`);
  const blocked = inTransaction(pool, async (tx) => {
    await many(tx, sql`lock table note`);
    return failureOf(many(pool, sql`select id from note`));
  });

  expect(isTransient(await failureOf(many(unreachable, sql`select 1`)))).toBe(true);
  expect(isTransient(await blocked)).toBe(true);
  expect(isTransient(await failureOf(many(pool, sql`select pg_terminate_backend(pg_backend_pid())`)))).toBe(true);
  expect(isTransient(await failureOf(many(pool, sql`select nonsense`)))).toBe(false);
  expect(isTransient(await failureOf(one(pool, sql`select 1 where false`)))).toBe(false);
  expect(isTransient("connection terminated")).toBe(false);
});
