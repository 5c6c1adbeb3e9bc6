import fc from "fast-check";
import { expect, test } from "vitest";
import { createPool, type Pool } from "#kernel/postgres/pool.ts";
import { execute, one, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { PATIENT, testDatabase } from "#test/support/database.ts";
import { cancelVersion } from "../commands/cancel-version.ts";
import { updateConfiguration } from "../commands/configure.ts";
import type { Deps } from "../deps.ts";
import { entriesOfCancellation, entriesOfChange, entryOfAssignment, type NewEntry } from "../domain/change-timeline.ts";
import { madeBy, scheduledAfter, stateOf, type TimelineEntry } from "../domain/timeline.ts";
import { listVersions } from "../queries/list-versions.ts";
import { versionOn, versionsOn } from "../testing/a-version.ts";
import { aCall, feeDeps, INVESTOR } from "../testing/fee.ts";
import { insertEntries, listEntries, lockConfiguration } from "./configurations.ts";
import { listVersionsBelow } from "./listed-versions.ts";

const DAYS = 9;
const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const someDay = fc.integer({ min: 1, max: DAYS });
const aRate = fc.integer({ min: 0, max: 1_000_000 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const command = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("assignment"), ratePpm: aRate }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cancellation"), place: fc.nat() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("change"),
      ratePpm: aRate,
      enabled: maybe(fc.boolean()),
      since: maybe(someDay),
    }),
  },
);
type Command = {
  readonly kind: string;
  readonly ratePpm?: number;
  readonly enabled?: boolean | undefined;
  readonly since?: number | undefined;
  readonly place?: number;
};
const histories = fc.array(fc.array(command, { minLength: 1, maxLength: 14 }), { minLength: 60, maxLength: 60 });

function entriesOf(entries: readonly TimelineEntry[], made: Command, at: Date): readonly NewEntry[] {
  const { kind, ratePpm = 0, enabled, since, place = 0 } = made;
  const effectiveSince = since === undefined ? undefined : day(since);
  if (entries.length === 0 || kind === "assignment") {
    return [entryOfAssignment({ ratePpm, enabled: true, effectiveSince: at })];
  }
  if (kind === "change") return entriesOfChange(entries, { ratePpm, enabled, effectiveSince }, at);
  const scheduled = scheduledAfter(entries, at);
  if (scheduled.length === 0) return [];
  return entriesOfCancellation(entries, versionOn(entries, scheduled[place % scheduled.length]!.id), at);
}

test("a version is listed as the whole timeline has it, after any commands", async () => {
  const { pool } = await testDatabase("fee");
  const [drawn = []] = fc.sample(histories, { numRuns: 1, seed: 84 });
  const logins = drawn.map((_, index) => String(8_000 + index));
  await inTransaction(pool, async (tx) => {
    for (const [index, commands] of drawn.entries()) {
      const investorLogin = logins[index]!;
      await lockConfiguration(tx, { investorLogin, investorId: 1n, at: day(1) });
      for (const [place, each] of commands.entries()) {
        const madeAt = day(1 + Math.floor((place * DAYS) / commands.length));
        const entries = entriesOf(await listEntries(tx, { investorLogin, since: day(0) }), each, madeAt);
        await insertEntries(tx, { key: `${index}/${place}`, investorLogin, entries, madeAt });
      }
    }
  });
  const states = new Map<string, number>();
  for (const investorLogin of logins) {
    const whole = await listEntries(pool, { investorLogin, since: day(0) });
    const newest = whole.at(-1)!.madeAt;
    for (const at of [newest, day(DAYS + 1)]) {
      const listed = await listVersionsBelow(pool, { investorLogin, beforeId: 0n, limit: 100 });
      const entries = await listEntries(pool, { investorLogin, since: at });
      const expected = versionsOn(whole).toReversed();
      expect(listed.map((version) => [madeBy(version), stateOf(entries, version, at)])).toEqual(
        expected.map((version) => [madeBy(version), stateOf(whole, version, at)]),
      );
      for (const version of listed) {
        const state = stateOf(entries, version, at);
        states.set(state, (states.get(state) ?? 0) + 1);
      }
    }
  }
  expect([...states.keys()].toSorted()).toEqual(["cancelled", "in_force", "past", "replaced", "scheduled"]);
  expect(Math.min(...states.values())).toBeGreaterThan(5);
});

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
  const entries = sql`
    insert into fee_version (investor_login, key, rate_ppm, rate_from, enabled, enabled_from, effective_since, made_at)
    select login, login || ':' || n, 200000, since, true, at, since, at
    from unnest(${logins}::text[]) as login, generate_series(1, ${count}) n,
         lateral (select timestamptz '2026-01-02' - (${count} - n) * interval '1 hour' as at) as command,
         lateral (select at - case when n % 3 = 0 then interval '90 minutes' else interval '1 second' end as since) as asked`;
  await execute(pool, entries);
  await asOwner(pool, "fee", "analyze fee_version, fee_version_replaced, fee_configuration");
}

/** Other Investors: of a small table, all rows are read at once. */
const OTHERS = Array.from({ length: 300 }, (_, index) => String(20_000 + index));

async function rowsOf(count: number): Promise<Record<string, number>> {
  const { url } = await testDatabase("fee");
  // One connection, because each counts what it has read by itself.
  await using pool = createPool({ url, schema: "fee", applicationName: "test", max: 1, timeouts: PATIENT });
  const deps = await feeDeps(() => day(3), undefined, pool);
  await manyChanges(pool, count);
  await manyChanges(pool, 10, OTHERS);
  const page = (beforeId: bigint) => listVersions(deps, { investorLogin: INVESTOR, beforeId, limit: 5 }, aCall());
  const cancel = (versionId: bigint) =>
    cancelVersion(deps, { investorLogin: INVESTOR, versionId }, aCall(`c${versionId}`));
  for (const number of [20, 21]) await schedule(deps, day(number));
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
