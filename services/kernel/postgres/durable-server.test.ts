import { ownPostgres } from "#test/support/own-postgres.ts";
import { expect, test } from "vitest";
import { findServerProblems } from "./durable-server.ts";
import { createPool } from "./pool.ts";
import { execute, fragment, type Fragment, sql } from "./query.ts";

const LIVE = { schema: "platform", isRehearsal: false, isProduction: false };
const REHEARSAL = { schema: "platform", isRehearsal: true, isProduction: false };

test("every setting with which a server may lose commits is refused at once, unless no real money is moved", async () => {
  await using server = await ownPostgres(false);
  expect(await findServerProblems(server.url, LIVE)).toEqual([
    "Postgres has fsync=off and may lose commits: set it on",
    "Postgres has synchronous_commit=off and may lose commits: set it on, also for the role and database",
  ]);
  expect(await findServerProblems(server.url, REHEARSAL)).toEqual([]);
});

test("a durable server is accepted, one whose standby may lack commits or that is a standby is not", async () => {
  await using server = await ownPostgres(true);
  expect(await findServerProblems(server.url, LIVE)).toEqual([]);
  const run = async (...statements: readonly Fragment[]): Promise<void> => {
    await using pool = createPool({ url: server.url, schema: "public", applicationName: "test", max: 1 });
    for (const statement of statements) await execute(pool, sql`${statement}`);
  };

  const production = { ...LIVE, isProduction: true };
  expect(await findServerProblems(server.url, production)).toEqual([]);
  await run(fragment`select pg_create_physical_replication_slot('standby')`);
  expect(await findServerProblems(server.url, LIVE)).toEqual([]);
  expect(await findServerProblems(server.url, production)).toEqual([expect.stringContaining("asynchronous standby")]);
  await run(fragment`alter role postgres set synchronous_commit = local`);
  expect(await findServerProblems(server.url, LIVE)).toEqual([]);
  await run(fragment`alter system set synchronous_standby_names = 'standby'`, fragment`select pg_reload_conf()`);
  expect(await findServerProblems(server.url, LIVE)).toEqual([expect.stringContaining("synchronous_commit=local")]);
  expect(await findServerProblems(server.url, REHEARSAL)).toEqual([]);

  expect(await findServerProblems(server.url, production)).toEqual([
    expect.stringContaining("synchronous_commit=local"),
  ]);
  await server.restartAsStandby();
  expect(await findServerProblems(server.url, REHEARSAL)).toEqual([expect.stringContaining("Postgres is in recovery")]);
});
