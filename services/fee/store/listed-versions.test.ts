import { expect, test } from "vitest";
import { createPool, type Pool } from "#kernel/postgres/pool.ts";
import { execute, one, sql } from "#kernel/postgres/query.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { PATIENT, newDatabase } from "#test/support/database.ts";
import type { Deps } from "../deps.ts";
import { aCall, feeDeps, INVESTOR } from "../testing/fee.ts";
import { listVersions } from "../queries/get-configuration.ts";
import { cancelVersion, updateConfiguration } from "../commands/configure.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));

test("any page of 10 and of 1,000 versions, and the cancellation of one, read equally many rows", async () => {
  const few = await rowsOf(10);

  expect(await rowsOf(1_000)).toEqual(few);
  expect(Math.max(...Object.values(few))).toBeLessThan(20);
});

/** Every hour a change, from a second before it on; each third one begins earlier, and replaces the one before. */
async function manyChanges(pool: Pool, count: number, logins: readonly string[] = [INVESTOR]): Promise<void> {
  await execute(
    pool,
    sql`insert into fee_configuration (investor_login, investor_id, created_at, updated_at)
        select login, login::bigint, ${day(1)}, ${day(1)} from unnest(${logins}::text[]) as login`,
  );
  const versions = sql`
    insert into fee_version (investor_login, key, rate_ppm, effective_since, enabled, enabled_from, made_at)
    select login, login || ':' || n, 200000, since, true, at, at
    from unnest(${logins}::text[]) as login, generate_series(1, ${count}) n,
         lateral (select timestamptz '2026-01-02' - (${count} - n) * interval '1 hour' as at) as command,
         lateral (select at - case when n % 3 = 0 then interval '90 minutes' else interval '1 second' end as since) as asked`;
  await execute(pool, versions);
  await execute(
    pool,
    sql`insert into fee_version_ended (version_id, state, key, ended_at)
        select version.id - 1, 'replaced', version.key, version.made_at
        from fee_version version
        where version.investor_login = any(${logins}::text[]) and split_part(version.key, ':', 2)::integer % 3 = 0`,
  );
  await asOwner(pool, "fee", "analyze fee_version, fee_version_ended, fee_configuration");
}

/** Other Investors: of a small table, all rows are read at once. */
const OTHERS = Array.from({ length: 300 }, (_, index) => String(20_000 + index));

async function rowsOf(count: number): Promise<Record<string, number>> {
  const { url } = await newDatabase("fee");
  // One connection, because each counts what it has read by itself.
  await using pool = createPool({ url, schema: "fee", applicationName: "test", max: 1, timeouts: PATIENT });
  const deps = await feeDeps(() => day(3), undefined, pool);
  await manyChanges(pool, count);
  await manyChanges(pool, 10, OTHERS);
  const page = (beforeId: bigint) => listVersions(deps, { investorLogin: INVESTOR, beforeId, limit: 5 }, aCall());
  const cancel = (versionId: bigint) =>
    cancelVersion(deps, { investorLogin: INVESTOR, versionId }, aCall(`c${versionId}`));
  await schedule(deps, day(20));
  const { id: newest } = (await page(0n)).items[0]!;
  const refused = expect.objectContaining({ code: "fee_version_not_scheduled" });
  return {
    first: await rowsRead(pool, async () => expect((await page(0n)).items).toHaveLength(5)),
    last: await rowsRead(pool, async () =>
      expect(await page(6n)).toMatchObject({ items: { length: 5 }, hasMore: false }),
    ),
    executed: await rowsRead(pool, async () => expect(await cancel(newest)).toMatchObject({ state: "cancelled" })),
    refused: await rowsRead(pool, async () => expect(cancel(1n)).rejects.toEqual(refused)),
  };
}

async function schedule(deps: Deps, effectiveSince: Date): Promise<void> {
  const change = { ratePpm: 1, enabled: undefined, effectiveSince, upsert: true };
  await updateConfiguration(
    deps,
    { investorLogin: INVESTOR, ...change },
    aCall(`schedule:${effectiveSince.getTime()}`),
  );
}

/** Rows of tables and entries of indexes, which a scan of an index alone reads without the table. */
async function rowsRead(pool: Pool, work: () => Promise<void>): Promise<number> {
  const before = await countRead(pool);
  await work();
  return (await countRead(pool)) - before;
}

async function countRead(pool: Pool): Promise<number> {
  await execute(pool, sql`select pg_stat_force_next_flush()`);
  const { rows } = await one<{ rows: bigint }>(
    pool,
    sql`select (sum(seq_tup_read) + (select sum(idx_tup_read) from pg_stat_user_indexes where relname like 'fee_version%'))::bigint as rows
        from pg_stat_user_tables
        where relname like 'fee_version%'`,
  );
  return Number(rows);
}
