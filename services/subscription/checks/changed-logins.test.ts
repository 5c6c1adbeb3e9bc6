import { beforeEach, expect, test } from "vitest";
import { execute, one, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { CheckRun, PendingBreak } from "#kernel/reconcile/check.ts";
import { corrupt as change } from "#test/support/corrupt.ts";
import { newDatabase } from "#test/support/database.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { deposit } from "../testing/funding.ts";
import { type Pair, settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aMaster, aWorld, type World } from "../testing/world.ts";
import { pools } from "./pools.ts";

/** Their logins are before all others, so that the pass through all logins is far from those that a test changes. */
const OLD_MASTERS = 45;
const OLD_INVESTORS = 4_500;

const isOld = (login: string): boolean => login.startsWith("0");

let world: World;
let pair: Pair;
let cursor: string;
/** The logins whose balances the last run asked platform for. */
let examined: Set<string>;

beforeEach(async () => {
  world = await aWorld({ database: await newDatabase("subscription") });
  const masterLogin = aMaster(world, 0n);
  pair = await subscribed(world, masterLogin, 1_000_00n);
  await settle(world);
  await world.deps.pool.query(
    `insert into master_pool (login) select '0m' || lpad(n::text, 4, '0') from generate_series(1, ${OLD_MASTERS}) as n`,
  );
  await world.deps.pool.query(
    `insert into investor_account (login) select '0i' || lpad(n::text, 4, '0') from generate_series(1, ${OLD_INVESTORS}) as n`,
  );
  cursor = "";
  await untilSettled();
  await run();
});

/** Transactions of other tests on the same server end; until then a run examines more than what is new. */
async function untilSettled(): Promise<void> {
  const { pool } = world.deps;
  const { end } = await one<{ end: bigint }>(
    pool,
    sql`select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as end`,
  );
  await waitFor(async () => {
    const { begin } = await one<{ begin: bigint }>(
      pool,
      sql`select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as begin`,
    );
    expect(begin).toBeGreaterThanOrEqual(end);
  });
}

/** The next run. */
async function run(pendingBreaks: readonly PendingBreak[] = [], maxRunMs?: number): Promise<CheckRun> {
  examined = new Set();
  const { deps } = world;
  const platform: typeof deps.platform = {
    ...deps.platform,
    readLogBalances({ positions }, context) {
      for (const { login } of positions) examined.add(login);
      // Platform leaves out logins that it does not manage.
      return deps.platform.readLogBalances({ positions: positions.filter(({ login }) => !isOld(login)) }, context);
    },
  };
  const done = await pools({ pool: deps.pool, platform }, maxRunMs).run({ cursor, pendingBreaks });
  cursor = done.nextCursor;
  return done;
}

/** So that a change is found by the search alone. */
function endPass(): void {
  cursor = cursor.replaceAll('"hasPassed":false', '"hasPassed":true');
}

const keysOf = ({ findings }: CheckRun) => findings.map(({ key }) => key);
const corrupt = (text: string) => change(world.deps.pool, text);

test("a Master and Investors that changed are examined by the next run, and by no later one", async () => {
  const second = await subscribed(world, pair.masterLogin, 500_00n);
  await deposit(world, pair.investorLogin, 66_67n);
  await settle(world);
  await untilSettled();
  const done = await run();
  expect(done).toMatchObject({ findings: [], leavesNewRows: false, endsPass: false });
  const logins = [pair.masterLogin, pair.investorLogin, second.investorLogin].toSorted();
  const changed = () => [...examined].filter((login) => !isOld(login)).toSorted();
  expect(changed()).toEqual(logins);
  await run();
  expect(changed()).toEqual([]);
  trader(world, pair.masterLogin).result(10_00n);
  await settle(world);
  await run();
  expect(changed()).toEqual(logins);
});

test("a row that was written by hand is found by the next run, and a repaired one is not", async () => {
  await corrupt(`update holding set pooled_minor = pooled_minor + 3 where subscription_id = ${pair.id}`);
  const broken = [`master:${pair.masterLogin}`, `pool:${pair.masterLogin}:sums:`, `investor:${pair.investorLogin}`];
  expect(keysOf(await run())).toEqual(broken);
  const pending = broken.map((key) => ({ key, login: "" }));
  expect(keysOf(await run(pending))).toEqual(broken);
  await corrupt(`update holding set pooled_minor = pooled_minor - 3 where subscription_id = ${pair.id}`);
  expect(keysOf(await run(pending))).toEqual([]);
});

test("a change that is committed after later ones, and after a run, is found by the next run", async () => {
  await inTransaction(world.deps.pool, async (late) => {
    await execute(late, sql`update master_pool set own_pooled_minor = own_pooled_minor + 5 where login = '0m0045'`);
    await corrupt("update master_pool set own_pooled_minor = 7 where login = '0m0044'");
    expect(keysOf(await run())).toEqual(["master:0m0044"]);
  });
  expect(keysOf(await run())).toContain("master:0m0045");
});

test("a run without time for all that changed is not complete, and the next ones continue", async () => {
  await corrupt("update master_pool set own_pooled_minor = 5 where login = '0m0045'");
  await corrupt("update master_pool set mark_tries = 1");
  await corrupt("update investor_account set posting_refusals = 1");
  const masters = ["master:0m0001", "master:0m0044", "master:0m0045"];
  const wanted = [...masters, "investor:0i0001", "investor:0i4500"];
  const first = await run([], 0);
  expect(first.leavesNewRows).toBe(true);
  const seen = new Set(examined);
  const found = keysOf(first);
  // Changed while the search goes on: at its begin, which was passed, and at its end.
  await corrupt("update master_pool set own_pooled_minor = 6 where login in ('0m0001', '0m0044')");
  await corrupt("update investor_account set outside_minor = 6 where login in ('0i0001', '0i4500')");
  for (let runs = 1; !wanted.every((key) => found.includes(key)); runs += 1) {
    expect(runs).toBeLessThan(100);
    endPass();
    found.push(...keysOf(await run([], 0)));
    for (const login of examined) seen.add(login);
  }
  expect(seen.size).toBe(OLD_MASTERS + OLD_INVESTORS + 2);
});

test("a pass examines all, and a pass through many Masters takes about a day", async () => {
  const seen = new Set<string>();
  for (let runs = 1, isOver = false; !isOver; runs += 1) {
    expect(runs).toBeLessThan(7);
    isOver = (await run()).endsPass;
    for (const login of examined) seen.add(login);
  }
  // The first run was before the loop.
  expect([...seen].filter((login) => login.startsWith("0m"))).toHaveLength(OLD_MASTERS - 10);
  await corrupt("update pg_class set reltuples = 1440 * 40 where oid = 'master_pool'::regclass");
  await run();
  expect([...examined].filter((login) => login.startsWith("0m"))).toHaveLength(40);
});
