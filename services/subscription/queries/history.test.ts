import { expect, test } from "vitest";
import { DAY_MS, HOUR_MS } from "#kernel/values/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type {
  ListPerformanceRequest,
  ListResultsRequest,
  ListResultsResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { valuePools } from "../jobs/mark-masters.ts";
import { deposit, withdraw } from "../testing/funding.ts";
import { settle, subscribed, aPair, settleAndReconcile } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, anInvestor, aWorld, passTime, type World } from "../testing/world.ts";
import { listInvestorAllocations } from "./list-investor-allocations.ts";
import { listResults } from "./list-performance.ts";

const E8_PER_CENT = 1_000_000n;

async function allocationsOf({ service }: World, investorLogin: string, limit = 100) {
  const amounts: [bigint | undefined, string | undefined, string | undefined][] = [];
  let before;
  let pages = 0;
  do {
    const page = await service.listInvestorAllocations(
      { investorLogin, from: undefined, to: undefined, before, limit },
      aCall(),
    );
    amounts.push(
      ...page.items.map(
        ({ amount, units, poolUnits }) => [amount?.minorUnits, units, poolUnits] as (typeof amounts)[number],
      ),
    );
    before = page.next;
    pages += 1;
  } while (before !== undefined);
  return { amounts, pages };
}

test("the parts of an Investor are listed newest first, with the units by which they were shared, over all its Masters", async () => {
  const { world, ...own } = await aPair(100_00n);
  const { masterLogin } = own;
  await subscribed(world, masterLogin, 300_00n);
  const trades = trader(world, masterLogin);
  for (const result of [4_00n, 1n, -8_00n]) trades.result(result);
  await settle(world);
  const units = { own: (100_00n * E8_PER_CENT).toString(), pool: (400_00n * E8_PER_CENT).toString() };

  expect(await allocationsOf(world, own.investorLogin)).toEqual({
    // The cent of the second result went to the other Investor.
    amounts: [-2_00n, 1_00n].map((amount) => [amount, units.own, units.pool]),
    pages: 1,
  });

  await world.service.unassign({ masterLogin, investorLogin: own.investorLogin }, aCall());
  await settle(world);
  trades.result(50_00n);
  const second = aMaster(world, 0n);
  await world.service.assign(
    { masterLogin: second, investorLogin: own.investorLogin, feeRatePpm: 0, feeEnabled: true },
    aCall(),
  );
  await settle(world);
  trader(world, second).result(9_00n);
  await settle(world);

  const listed = await allocationsOf(world, own.investorLogin, 1);
  expect(listed.amounts.map(([amount]) => amount)).toEqual([9_00n, -2_00n, 1_00n]);
  expect((await allocationsOf(world, "99")).amounts).toEqual([]);
});

test("a period of allocations is half-open, and what is not in it is not listed", async () => {
  const { world, masterLogin, investorLogin } = await aPair(100_00n);
  for (const result of [1_00n, 2_00n, 3_00n]) {
    trader(world, masterLogin).result(result);
    await settle(world);
  }
  const list = (from?: Date, to?: Date) =>
    world.service.listInvestorAllocations({ investorLogin, from, to, before: undefined, limit: 10 }, aCall());
  const [third, second, first] = (await list()).items;

  expect((await list(first!.allocatedAt, third!.allocatedAt)).items).toEqual([second, first]);
  expect((await list(third!.allocatedAt)).items).toEqual([third]);
  expect(await list(undefined, first!.allocatedAt)).toEqual({ items: [], next: undefined });
});

test("a page of allocations reads as many rows at the end of a long history as at its start", async () => {
  const { world, masterLogin, investorLogin, id } = await aPair(100_00n);
  await subscribed(world, masterLogin, 100_00n);
  await world.deps.pool.query(
    `insert into allocation_entry (master_login, number, kind, created_at, pool_units, log_number, deal_id, deal_at, result_minor, own_minor)
     select '${masterLogin}', number, 'RESULT', now() + number * interval '1 second', 2, 1000 + number, number, now(), 2, 0
     from generate_series(1, 3000) as number`,
  );
  await world.deps.pool.query(
    `insert into allocation_row (master_login, number, subscription_id, units, amount_minor, pooled_minor, carry_e8, floating_e8)
     select '${masterLogin}', number, ${id} + other, 1, 1, 1, 0, 0
     from generate_series(1, 3000) as number cross join generate_series(0, 1) as other`,
  );
  await asOwner(world.deps.pool, "subscription", "analyze allocation_entry, allocation_row");
  const read = (number: bigint) =>
    inTransaction(world.deps.pool, (tx) =>
      rowsRead(tx, ["allocation_entry", "allocation_row"], async () => {
        const request = {
          investorLogin,
          from: undefined,
          to: undefined,
          before: { subscriptionId: id, number },
          limit: 20,
        };
        // A connection of a pool, in place of the pool.
        const { items } = await listInvestorAllocations({ pool: tx as never }, request);
        expect(items).toHaveLength(20);
      }),
    );
  const [start, end] = [await read(3_001n), await read(40n)];

  expect(start).toBeLessThan(150);
  expect(Math.abs(start - end)).toBeLessThan(20);
});

async function equityOf({ service }: World, investorLogin: string) {
  const { balance, unposted, holding } = await service.getEquity({ investorLogin }, aCall());
  return {
    balance: balance?.minorUnits,
    unposted: unposted?.minorUnits,
    pooled: holding?.pooled?.minorUnits,
    joining: holding?.joining?.minorUnits,
    floating: holding && Number(holding.floatingE8) / Number(E8_PER_CENT),
    price: holding && Number((Number(holding.poolValueE8) / Number(holding.poolUnits)).toFixed(8)),
    open: holding?.openPositions,
  };
}

test("A1: the equity of an Investor has its share of what floats now, also of what has floated before it came", async () => {
  const { world, ...first } = await aPair(1_000_00n);
  const { masterLogin } = first;
  const trades = trader(world, masterLogin);
  const position = trades.open();
  trades.float(position, 450_00n);
  await settle(world);
  const nothing = { unposted: 0n, joining: 0n };
  expect(await equityOf(world, first.investorLogin)).toEqual({
    ...nothing,
    balance: 1_000_00n,
    pooled: 1_000_00n,
    floating: 450_00,
    price: 1.45,
    open: 1,
  });

  const second = await subscribed(world, masterLogin, 550_00n);
  trades.float(position, 1_450_00n);
  expect(await equityOf(world, first.investorLogin)).toMatchObject({ floating: 1_175_00 });
  expect(await equityOf(world, second.investorLogin)).toMatchObject({ pooled: 550_00n, floating: 275_00 });

  trades.close(position, { profit: 1_450_00n });
  await settle(world);
  expect(await equityOf(world, first.investorLogin)).toEqual({
    ...nothing,
    balance: 2_175_00n,
    pooled: 2_175_00n,
    floating: 0,
    price: 2.175,
    open: 0,
  });
});

test("an Investor outside a pool has its balance, and one that has no account yet nothing", async () => {
  const world = await aWorld();
  const investorLogin = anInvestor(world, 70_00n);
  const before = await equityOf(world, investorLogin);
  expect(before).toMatchObject({ balance: 0n, pooled: undefined });
  await settle(world);
  expect(await equityOf(world, investorLogin)).toMatchObject({ balance: 70_00n, unposted: 0n, pooled: undefined });
});

test("while deals of the Master are not filed the equity is refused, not guessed", async () => {
  const { world, masterLogin, investorLogin } = await aPair(100_00n);
  trader(world, masterLogin).result(5_00n);

  await expect(world.service.getEquity({ investorLogin }, aCall({ withinMs: 1_000 }))).rejects.toMatchObject({
    code: "allocation_in_progress",
  });
  await settle(world);
  expect(await equityOf(world, investorLogin)).toMatchObject({ balance: 105_00n, pooled: 105_00n });
});

test("the performance of a Master is that of its trades, whatever money comes and goes", async () => {
  const { world, masterLogin, investorLogin } = await aPair(1_000_00n);
  const trades = trader(world, masterLogin);
  trades.result(100_00n);
  await settle(world);
  await deposit(world, investorLogin, 3_300_00n);
  await settle(world);
  trades.result(-440_00n);
  await settle(world);
  await withdraw(world, investorLogin, 2_000_00n, "out");
  await settle(world);
  trades.result(198_00n);
  await settle(world);

  const list = (from: string, to: string) =>
    world.service.listPerformance({ masterLogin, from, to, limit: 366, serverDays: false }, aCall());
  const { days, openingValue } = await list("2020-01-01", "9999-01-01");
  expect(openingValue).toBe("");
  const [value] = days.map((day) => Number(day.value) / 1e18).slice(-1);
  // 1.1 x 0.9 x 1.1
  expect(value).toBeCloseTo(1.1 * 0.9 * (1 + 198 / 1_960), 9);
  expect(days.reduce((sum, { result }) => sum + (result?.minorUnits ?? 0n), 0n)).toBe(-142_00n);
  expect(days.some(({ drawdownPpm }) => drawdownPpm === 100_000)).toBe(true);
  expect(await list("2020-01-01", days[0]!.day)).toEqual({
    days: [],
    hasMore: false,
    openingValue: "",
    maxDrawdownPpm: 0,
  });
  const afterwards = await list("9000-01-01", "9999-01-01");
  expect(Number(afterwards.openingValue) / 1e18).toBeCloseTo(value!, 9);

  const { items } = await resultsOf(world, masterLogin);
  expect(items.map(({ result, valued }) => [result?.minorUnits, Number(valued?.value) / 1e18])).toEqual([
    [198_00n, expect.closeTo(value!, 9)],
    [-440_00n, expect.closeTo(1.1 * 0.9, 9)],
    [100_00n, expect.closeTo(1.1, 9)],
  ]);
  expect(items.map(({ valued }) => valued?.drawdownPpm)).toEqual([9_081, 100_000, 0]);
  expect(items.map(({ valued }) => Number(valued?.poolValueE8) / 1e8)).toEqual([2_158, 3_960, 1_100]);
});

const ALL_DAYS = { from: "2020-01-01", to: "9999-01-01", limit: 366 };

async function recordOf(world: World, masterLogin: string, period: Partial<ListPerformanceRequest> = {}) {
  const wanted = { masterLogin, ...ALL_DAYS, serverDays: false, ...period };
  const { days, maxDrawdownPpm } = await world.service.listPerformance(wanted, aCall());
  return { value: Number(days.at(-1)?.value) / 1e18, maxDrawdownPpm, days: days.length };
}

test("a Master that floats at -60 % and closes at +5 % has fallen by 60 %, and no share has changed meanwhile", async () => {
  const { world, masterLogin } = await aPair(1_000_00n);
  const trades = trader(world, masterLogin);
  const positionId = trades.open();
  await settle(world);
  const bookOf = () =>
    many(world.deps.pool, sql`select position_id, volume, mark, per_unit from pool_position order by position_id`);
  const before = [await bookOf(), await many(world.deps.pool, sql`select * from holding`)];

  trades.float(positionId, -500_00n, -100_00n);
  await passTime(world, HOUR_MS);
  await settle(world);
  expect(await recordOf(world, masterLogin)).toMatchObject({ value: 0.4, maxDrawdownPpm: 600_000 });
  trades.float(positionId, -300_00n);
  await settle(world);
  // It is valued from time to time, not all the time.
  expect(await recordOf(world, masterLogin)).toMatchObject({ value: 0.4 });
  expect([await bookOf(), await many(world.deps.pool, sql`select * from holding`)]).toEqual(before);
  // What another position has realised meanwhile does not hide what floats.
  trades.result(100_00n);
  await settle(world);
  expect(await recordOf(world, masterLogin)).toMatchObject({ value: 0.5 });

  trades.close(positionId, { profit: -50_00n });
  await settleAndReconcile(world);
  expect(await recordOf(world, masterLogin)).toMatchObject({ value: 1.05, maxDrawdownPpm: 600_000 });
  expect(await many(world.deps.pool, sql`select value_next_at from master_pool`)).toEqual([{ value_next_at: null }]);
});

test("a valuation that fails is tried again after its claim, and pools without units or of a stopped Master are not valued", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const empty = aMaster(world, 0n);
  await subscribed(world, masterLogin, 1_000_00n);
  const positionId = trader(world, masterLogin).open();
  trader(world, masterLogin).float(positionId, -100_00n);
  trader(world, empty).open();
  await settle(world);
  await passTime(world, HOUR_MS);

  const { readAccount } = world.platform.client;
  let reads = 0;
  const platform = {
    ...world.platform.client,
    readAccount: async () => {
      reads += 1;
      throw new Error("the platform is away");
    },
  };
  // Of two replicas one reads each Master.
  await Promise.all([valuePools({ ...world.deps, platform }), valuePools({ ...world.deps, platform })]);
  expect(reads).toBe(2);
  expect(await recordOf(world, masterLogin)).toMatchObject({ days: 0, maxDrawdownPpm: 0 });
  expect(await many(world.deps.pool, sql`select from master_pool where mark_tries > 0`)).toEqual([]);
  await settle(world);
  expect(await recordOf(world, masterLogin)).toMatchObject({ days: 0 });

  await passTime(world, 60_000);
  await settle({ ...world, deps: { ...world.deps, platform: { ...platform, readAccount } } });
  expect(await recordOf(world, masterLogin)).toMatchObject({ value: 0.9, maxDrawdownPpm: 100_000 });
  expect(await recordOf(world, empty)).toMatchObject({ days: 0 });

  await passTime(world, HOUR_MS);
  await world.deps.pool.query("update master_pool set stopped_reason = 'a test'");
  trader(world, masterLogin).float(positionId, -900_00n);
  await settle(world);
  expect(await recordOf(world, masterLogin)).toMatchObject({ value: 0.9 });
});

test("a deal at 23:30 UTC counts on the next day of a server that is two hours ahead", async () => {
  const world = await aWorld({ week: { anchor: new Date("2025-01-04T00:00:00Z"), periodMs: 3_650 * DAY_MS } });
  const masterLogin = aMaster(world, 0n);
  await subscribed(world, masterLogin, 1_000_00n);
  // Later than all that is booked, in winter.
  trader(world, masterLogin).result(450_00n, { at: new Date("2031-01-31T23:30:00Z") });
  await settle(world);

  const january = { from: "2031-01-01", to: "2031-02-01" };
  expect(await recordOf(world, masterLogin, january)).toMatchObject({ value: 1.45, days: 1 });
  expect(await recordOf(world, masterLogin, { ...january, serverDays: true })).toMatchObject({ days: 0 });
  const february = { from: "2031-02-01", to: "2031-03-01" };
  expect(await recordOf(world, masterLogin, { ...february, serverDays: true })).toMatchObject({ value: 1.45, days: 1 });
  expect(await recordOf(world, masterLogin, february)).toMatchObject({ days: 0 });
});

function resultsOf({ service }: World, masterLogin: string, request: Partial<ListResultsRequest> = {}) {
  const all = { from: undefined, to: undefined, beforeLogNumber: 0n, limit: 10 };
  return service.listResults({ masterLogin, ...all, ...request }, aCall());
}

test("the results of a Master are walked newest first, and a period of them is half-open by when they were allocated", async () => {
  const { world, masterLogin } = await aPair(100_00n);
  for (const result of [1_00n, 2_00n, 3_00n]) {
    trader(world, masterLogin).result(result);
    await settle(world);
  }
  const amountsOf = ({ items }: ListResultsResponse) => items.map(({ result }) => result?.minorUnits);
  const list = (request: Partial<ListResultsRequest> = {}) => resultsOf(world, masterLogin, request);
  const { items } = await list();
  const [third, second, first] = items;

  expect(amountsOf(await list())).toEqual([3_00n, 2_00n, 1_00n]);
  const page = await list({ limit: 2 });
  expect([amountsOf(page), page.hasMore]).toEqual([[3_00n, 2_00n], true]);
  const next = await list({ limit: 2, beforeLogNumber: second!.logNumber });
  expect([amountsOf(next), next.hasMore]).toEqual([[1_00n], false]);
  expect(amountsOf(await list({ from: first!.allocatedAt, to: third!.allocatedAt }))).toEqual([2_00n, 1_00n]);
  expect(amountsOf(await list({ from: second!.allocatedAt, beforeLogNumber: third!.logNumber }))).toEqual([2_00n]);
  expect(amountsOf(await list({ to: first!.allocatedAt }))).toEqual([]);
  expect(await resultsOf(world, "99")).toEqual({ items: [], hasMore: false });
  await expect(list({ limit: 0 })).rejects.toThrow("The request is invalid.");
});

test("a page of results reads as many rows at the end of a long history as at its start, also behind thousands of closed weeks", async () => {
  const { world, masterLogin } = await aPair(100_00n);
  await world.deps.pool.query(
    `insert into allocation_entry (master_login, number, kind, created_at, pool_units, log_number, deal_id, deal_at, result_minor, own_minor)
     select '${masterLogin}', number, 'RESULT', now() + number * interval '1 second', 2, 1000 + number * 3, number, now(), 2, 0
     from generate_series(1, 3000) as number`,
  );
  await world.deps.pool.query(
    `insert into allocation_entry (master_login, number, kind, created_at, pool_units, period_start, cut_off)
     select '${masterLogin}', number, 'WEEK', now() + number * interval '1 second', 2, now() + number * interval '7 days',
            now() + (number + 1) * interval '7 days'
     from generate_series(3001, 6000) as number`,
  );
  await asOwner(world.deps.pool, "subscription", "analyze allocation_entry");
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000);
  const read = (request: Partial<ListResultsRequest>) =>
    inTransaction(world.deps.pool, (tx) =>
      rowsRead(tx, ["allocation_entry"], async () => {
        const all = { masterLogin, from: undefined, to: undefined, beforeLogNumber: 0n, limit: 20 };
        // A connection of a pool, in place of the pool.
        const { items } = await listResults({ pool: tx as never }, { ...all, ...request });
        expect(items).toHaveLength(20);
      }),
    );
  const [start, end] = [await read({}), await read({ beforeLogNumber: 1_100n })];
  expect(start).toBeLessThan(30);
  expect(Math.abs(start - end)).toBeLessThan(5);

  const [early, late] = [await read({ from: inSeconds(30), to: inSeconds(90) }), await read({ to: inSeconds(2_900) })];
  expect(Math.max(early, late)).toBeLessThan(150);
});
