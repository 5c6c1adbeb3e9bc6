import fc from "fast-check";
import { expect, test } from "vitest";
import { column, execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { testDatabase } from "#test/support/database.ts";
import { rateAt } from "../testing/a-version.ts";
import { aCall, INVESTOR } from "../testing/fee.ts";
import { configurationReads, getConfiguration } from "../queries/get-configuration.ts";
import { anInvestor, aWorld, type World } from "../testing/world.ts";
import { findTerms } from "../queries/find-terms.ts";
import { cancelVersion, configure, updateConfiguration } from "../commands/configure.ts";
import { listTerms, listVersionsBelow } from "./configurations.ts";
import { inForceAt, isEnabledAt, scheduledAfter, shownAt, stateOf, stepsOf, type Version } from "../domain/timeline.ts";

const { pool, admin } = await testDatabase("fee");
const DAYS = 9;
const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const HISTORIES = 60;

type Command = {
  readonly kind: "assign" | "change" | "cancel";
  readonly ratePpm: number;
  readonly enabled: boolean | undefined;
  readonly since: number | undefined;
};

const command: fc.Arbitrary<Command> = fc.record({
  kind: fc.constantFrom("assign", "change", "change", "change", "change", "cancel"),
  ratePpm: fc.integer({ min: 0, max: 1_000_000 }),
  enabled: fc.option(fc.boolean(), { nil: undefined }),
  since: fc.option(fc.integer({ min: 1, max: DAYS }), { nil: undefined }),
});
const histories = fc.array(fc.array(command, { minLength: 1, maxLength: 14 }), {
  minLength: HISTORIES,
  maxLength: HISTORIES,
});

/** Investors with random commands, each on its own day. A second version is not scheduled, and only a scheduled one is cancelled. */
async function aHistoryOfCommands(world: World): Promise<string[]> {
  const [drawn = []] = fc.sample(histories, { numRuns: 1, seed: 84 });
  const { clock } = world;
  const findInvestor = async ({ login }: { readonly login: string }) => ({
    ...(await world.deps.accounts.findInvestor({ login: INVESTOR }, aCall())),
    login,
  });
  const deps = { ...world.deps, accounts: { ...world.deps.accounts, findInvestor } };
  const perform = async (investorLogin: string, { kind, ratePpm, enabled, since }: Command, key: string) => {
    const known = (await listTerms(pool, [{ investorLogin, since: clock.now }])).get(investorLogin);
    const scheduled = scheduledAfter(known?.versions ?? [], clock.now);
    if (kind === "assign" || known === undefined) {
      const terms = { ratePpm, enabled: enabled ?? true, effectiveSince: clock.now };
      await configure(deps, { key, investorId: 17n, investorLogin, ...terms });
    } else if (kind === "cancel") {
      if (scheduled !== undefined) await cancelVersion(deps, { investorLogin, versionId: scheduled.id }, aCall(key));
    } else {
      const effectiveSince = since === undefined ? undefined : day(since);
      const isSecond = scheduled !== undefined && effectiveSince !== undefined && effectiveSince > clock.now;
      const date = isSecond ? scheduled.effectiveSince : effectiveSince;
      await updateConfiguration(
        deps,
        { investorLogin, ratePpm, enabled, effectiveSince: date, upsert: true },
        aCall(key),
      );
    }
  };
  for (const [index, commands] of drawn.entries()) {
    for (const [place, each] of commands.entries()) {
      clock.now = day(1 + Math.floor((place * DAYS) / commands.length));
      await perform(String(8_000 + index), each, `${index}/${place}`);
    }
  }
  return drawn.map((_, index) => String(8_000 + index));
}

test("what is read since an instant says of it and of every later one what the whole timeline says, and a listing too", async () => {
  const logins = await aHistoryOfCommands(await aWorld(pool));
  const read = async (since: number) =>
    await listTerms(
      pool,
      logins.map((investorLogin) => ({ investorLogin, since: day(since) })),
    );
  // None has begun by then.
  const whole = await read(0);
  for (let since = 1; since <= DAYS; since += 1) {
    const terms = await read(since);
    for (const login of logins) {
      expect(saidBy(terms.get(login)!.versions, since)).toEqual(saidBy(whole.get(login)!.versions, since));
    }
  }
  const states = new Map<string, number>();
  for (const investorLogin of logins) {
    const { versions } = whole.get(investorLogin)!;
    const known = new Set(versions.map(({ id }) => id));
    for (const version of await listVersionsBelow(pool, { investorLogin, beforeId: 0n, limit: 100 })) {
      // Of the whole timeline: what holds any time of it holds its own start.
      const isHeld = inForceAt(versions, version.effectiveSince)?.id === version.id;
      expect([version.id, version.ended !== undefined]).toEqual([version.id, !isHeld]);
      if (version.ended === "cancelled") expect(known.has(version.id)).toBe(false);
      const state = stateOf(versions, version, day(DAYS));
      states.set(state, (states.get(state) ?? 0) + 1);
    }
  }
  expect([...states.keys()].toSorted()).toEqual(["cancelled", "in_force", "past", "replaced"]);
  expect(Math.min(...states.values())).toBeGreaterThan(5);
});

/** Everything that commands, queries and decisions ask of an instant and of those after it. */
function saidBy(versions: readonly Version[], since: number): unknown[] {
  const steps = stepsOf(versions);
  const days = Array.from({ length: DAYS + 2 - since }, (_, index) => day(since + index));
  return days.map((at) => ({
    rate: rateAt(versions, at),
    isEnabled: isEnabledAt(versions, at),
    inForce: inForceAt(versions, at),
    scheduled: scheduledAfter(versions, at),
    shown: shownAt(versions, at),
    changes: steps.filter(({ from }) => from !== undefined && from > at),
  }));
}

test("a decision, a query of the configuration and a page of its versions read as much after a thousand changes of the fee as after ten", async () => {
  const world = await aWorld(pool);
  const changes = { "9001": 10, "9002": 1_000 };
  for (const [login, count] of Object.entries(changes)) {
    await anInvestor(world, { login });
    await execute(
      pool,
      sql`insert into fee_version (investor_login, key, rate_ppm, effective_since, enabled, enabled_from, made_at)
          select ${login}, ${login} || ':' || n, 200000, at, true, at, at
          from generate_series(1, ${count}) n, lateral (select timestamptz '2026-01-03 01:00Z' - (${count} - n) * interval '1 second' as at) change`,
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
        insert into fee.fee_version (investor_login, key, rate_ppm, effective_since, enabled, enabled_from, made_at)
        select investor_login, investor_login || ':' || n, 200000, at, true, at, at
        from others, generate_series(1, 3) n, lateral (select timestamptz '2026-01-01' + n * interval '1 hour' as at) change`,
  );
  await execute(admin, sql`analyze fee.fee_version`);
  const since = new Date("2026-01-03T01:00:00Z");
  world.clock.now = since;
  const decide = (investorLogin: string) =>
    cost(async (tx) => {
      const { investors } = await findTerms({ pool: tx }, { masterLogin: "", investors: [{ investorLogin, since }] });
      expect(investors[0]?.steps.at(-1)).toMatchObject({ ratePpm: 200_000, from: since });
    });
  const show = (investorLogin: string) =>
    cost(async (tx) => {
      const reads = configurationReads({ pool: tx, now: world.deps.now });
      expect(await getConfiguration(world.deps, reads, { investorLogin }, aCall())).toMatchObject({ ratePpm: 200_000 });
    });

  const page = (investorLogin: string, beforeId: bigint) =>
    cost(async (tx) => {
      expect(await listVersionsBelow(tx, { investorLogin, beforeId, limit: 5 })).toHaveLength(5);
    });
  const all = async (login: string) => {
    const [first = 0n] = await column<bigint>(
      pool,
      sql`select min(id) from fee_version where investor_login = ${login}`,
    );
    return [await decide(login), await show(login), await page(login, 0n), await page(login, first + 6n)];
  };

  // The first time also plans, which may look at the ends of an index.
  await all("9001");
  const few = await all("9001");
  expect(await all("9002")).toEqual(few);
  expect(few[0]).toBeLessThan(6);
});

async function cost(work: (tx: Parameters<Parameters<typeof inTransaction>[1]>[0]) => Promise<void>): Promise<number> {
  return await inTransaction(pool, (tx) => rowsRead(tx, ["fee_version"], () => work(tx)));
}
