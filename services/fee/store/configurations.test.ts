import fc from "fast-check";
import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { testDatabase } from "#test/support/database.ts";
import type { NewEntry } from "../domain/change-timeline.ts";
import { inForceAt, scheduledAfter, shownAt, type TimelineEntry } from "../domain/timeline.ts";
import { changesOf, isEnabledAt, rateAt } from "../domain/version.ts";
import { openBooks } from "../processes/accounting/open-books.ts";
import { aCall, MASTER } from "../testing/fee.ts";
import { configurationReads, getConfiguration } from "../queries/get-configuration.ts";
import { anInvestor, aWorld, result, settle } from "../testing/world.ts";
import { insertEntries, listEntries, listTerms, lockConfiguration } from "./configurations.ts";
import { lockMasters } from "./masters.ts";

const { pool, admin } = await testDatabase("fee");
const DAYS = 9;
const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));

/** Also such that begin where another one begins, or whose switch begins later than the rate. */
const entry = fc
  .record({
    ratePpm: fc.integer({ min: 0, max: 1_000_000 }),
    enabled: fc.boolean(),
    start: fc.integer({ min: 1, max: DAYS }),
    switchedAt: fc.integer({ min: 1, max: DAYS }),
  })
  .map(({ start, switchedAt, ...terms }): NewEntry => {
    const [rateFrom, enabledFrom] = [day(start), day(Math.max(start, switchedAt))];
    return { ...terms, rateFrom, enabledFrom, effectiveSince: rateFrom, restates: undefined, cancels: undefined };
  });
const timelines = fc.array(fc.array(entry, { minLength: 1, maxLength: 9 }), { minLength: 30, maxLength: 30 });

test("what is read since an instant says of it and of every later one what the whole timeline says", async () => {
  await aWorld(pool);
  const [drawn = []] = fc.sample(timelines, { numRuns: 1, seed: 84 });
  const logins = drawn.map((_, index) => String(8_000 + index));
  await inTransaction(pool, async (tx) => {
    for (const [index, timeline] of drawn.entries()) {
      const investorLogin = logins[index]!;
      await lockConfiguration(tx, { investorLogin, investorId: 1n, at: day(1) });
      for (const [place, each] of timeline.entries()) {
        await insertEntries(tx, { key: `${index}/${place}`, investorLogin, entries: [each], madeAt: day(1) });
      }
    }
  });
  const read = async (since: number) =>
    await listTerms(
      pool,
      logins.map((investorLogin) => ({ investorLogin, since: day(since) })),
    );
  // None has begun by then.
  const whole = await read(0);
  for (const [index, timeline] of drawn.entries()) {
    expect(whole.get(logins[index]!)?.versions).toHaveLength(timeline.length);
  }
  for (let since = 1; since <= DAYS; since += 1) {
    const terms = await read(since);
    for (const login of logins) {
      expect(saidBy(terms.get(login)!.versions, since)).toEqual(saidBy(whole.get(login)!.versions, since));
    }
    const first = { investorLogin: logins[0]!, since: day(since) };
    expect(await listEntries(pool, first)).toEqual(terms.get(logins[0]!)?.versions);
  }
});

/** Everything that commands, queries and decisions ask of an instant and of those after it. */
function saidBy(entries: readonly TimelineEntry[], since: number): unknown[] {
  const isChanged = changesOf(entries);
  const days = Array.from({ length: DAYS + 2 - since }, (_, index) => day(since + index));
  return days.map((at, index) => ({
    rate: rateAt(entries, at),
    isEnabled: isEnabledAt(entries, at),
    inForce: inForceAt(entries, at),
    scheduled: scheduledAfter(entries, at),
    shown: shownAt(entries, at),
    changes: days.slice(index).map((to) => isChanged(at, to)),
  }));
}

test("a decision and a query of the configuration read as much after a thousand changes of the fee as after ten", async () => {
  const world = await aWorld(pool);
  const changes = { "9001": 10, "9002": 1_000 };
  for (const [login, count] of Object.entries(changes)) {
    await anInvestor(world, { login });
    await execute(
      pool,
      sql`insert into fee_version (investor_login, key, rate_ppm, rate_from, enabled, enabled_from, effective_since, made_at)
          select ${login}, ${login} || ':' || n, 200000, at, true, at, at, at
          from generate_series(1, ${count}) n, lateral (select timestamptz '2026-01-02' - (${count} - n) * interval '1 hour' as at) change`,
    );
  }
  // As on a system with many Investors, of whom most have few changes.
  await execute(
    admin,
    sql`with others as (
          insert into fee.fee_configuration (investor_login, investor_id, created_at, updated_at)
          select login, login, now(), now() from generate_series(20001, 22000) as login
          returning investor_login
        )
        insert into fee.fee_version (investor_login, key, rate_ppm, rate_from, enabled, enabled_from, effective_since, made_at)
        select investor_login, investor_login || ':' || n, 200000, at, true, at, at, at
        from others, generate_series(1, 3) n, lateral (select timestamptz '2026-01-01' + n * interval '1 hour' as at) change`,
  );
  await execute(admin, sql`analyze fee.fee_version`);
  result(world, { "9001": "+10.00", "9002": "+10.00" });
  await settle(world);
  const decide = (investorLogin: string) =>
    cost(async (tx) => {
      const wanted = { investorLogin, masterLogin: MASTER, throughNumber: 1n, at: world.clock.now };
      const [books] = await openBooks(tx, [wanted], { masters: await lockMasters(tx, [MASTER]), maxResults: 100 });
      expect(books?.pair?.earnings.layers).toHaveLength(1);
      expect(books?.terms?.versions.at(-1)?.ratePpm).toBe(200_000);
    });
  const show = (investorLogin: string) =>
    cost(async (tx) => {
      const reads = configurationReads({ pool: tx, now: world.deps.now });
      expect(await getConfiguration(world.deps, reads, { investorLogin }, aCall())).toMatchObject({ ratePpm: 200_000 });
    });

  const few = { decided: await decide("9001"), shown: await show("9001") };
  expect({ decided: await decide("9002"), shown: await show("9002") }).toEqual(few);
  expect(few.decided).toBeLessThan(6);
});

async function cost(work: (tx: Parameters<Parameters<typeof inTransaction>[1]>[0]) => Promise<void>): Promise<number> {
  return await inTransaction(pool, (tx) => rowsRead(tx, ["fee_version"], () => work(tx)));
}
