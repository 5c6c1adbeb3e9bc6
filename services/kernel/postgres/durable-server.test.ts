import { ownPostgres } from "#test/support/own-postgres.ts";
import { expect, test } from "vitest";
import { requireDurableServer } from "./durable-server.ts";
import { createPool } from "./pool.ts";
import { execute, fragment, type Fragment, sql } from "./query.ts";

const LIVE = { schema: "platform", isRehearsal: false };
const REHEARSAL = { schema: "platform", isRehearsal: true };

test("every setting with which a server may lose commits is refused at once, unless no real money is moved", async () => {
  await using server = await ownPostgres(false);
  await expect(requireDurableServer(server.url, LIVE)).rejects.toThrow(
    "Postgres has fsync=off and may lose commits: set it on\n" +
      "Postgres has synchronous_commit=off and may lose commits: set it on, also for the role and database",
  );
  await requireDurableServer(server.url, REHEARSAL);
}, 60_000);

test("a durable server is accepted, one whose standby may lack commits or that is a standby is not", async () => {
  await using server = await ownPostgres(true);
  await requireDurableServer(server.url, LIVE);
  const run = async (...statements: readonly Fragment[]): Promise<void> => {
    await using pool = createPool({ url: server.url, schema: "public", applicationName: "test", max: 1 });
    for (const statement of statements) await execute(pool, sql`${statement}`);
  };

  await run(fragment`alter role postgres set synchronous_commit = local`);
  await requireDurableServer(server.url, LIVE);
  await run(fragment`alter system set synchronous_standby_names = 'standby'`, fragment`select pg_reload_conf()`);
  await expect(requireDurableServer(server.url, LIVE)).rejects.toThrow("synchronous_commit=local");
  await requireDurableServer(server.url, REHEARSAL);

  await server.restartAsStandby();
  await expect(requireDurableServer(server.url, REHEARSAL)).rejects.toThrow("Postgres is in recovery");
}, 60_000);
