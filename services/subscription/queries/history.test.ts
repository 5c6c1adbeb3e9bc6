import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { ListResultsRequest, ListResultsResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { deposit, withdraw } from "../testing/funding.ts";
import { settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, anInvestor, aWorld, type World } from "../testing/world.ts";
import { listInvestorAllocations } from "./list-investor-allocations.ts";
import { listResults } from "./list-results.ts";

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
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const own = await subscribed(world, masterLogin, 100_00n);
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
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, masterLogin, 100_00n);
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
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const { investorLogin, id } = await subscribed(world, masterLogin, 100_00n);
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
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const first = await subscribed(world, masterLogin, 1_000_00n);
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
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, masterLogin, 100_00n);
  trader(world, masterLogin).result(5_00n);

  await expect(world.service.getEquity({ investorLogin }, aCall({ withinMs: 1_300 }))).rejects.toMatchObject({
    code: "allocation_in_progress",
  });
  await settle(world);
  expect(await equityOf(world, investorLogin)).toMatchObject({ balance: 105_00n, pooled: 105_00n });
});

test("the performance of a Master is that of its trades, whatever money comes and goes", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, masterLogin, 1_000_00n);
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
    world.service.listPerformance({ masterLogin, from, to, limit: 366 }, aCall());
  const { days, openingValue } = await list("2020-01-01", "9999-01-01");
  expect(openingValue).toBe("");
  const [value] = days.map((day) => Number(day.value) / 1e18).slice(-1);
  // 1.1 x 0.9 x 1.1
  expect(value).toBeCloseTo(1.1 * 0.9 * (1 + 198 / 1_960), 9);
  expect(days.reduce((sum, { result }) => sum + (result?.minorUnits ?? 0n), 0n)).toBe(-142_00n);
  expect(days.some(({ drawdownPpm }) => drawdownPpm === 100_000)).toBe(true);
  expect(await list("2020-01-01", days[0]!.day)).toEqual({ days: [], hasMore: false, openingValue: "" });
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

function resultsOf({ service }: World, masterLogin: string, request: Partial<ListResultsRequest> = {}) {
  const all = { from: undefined, to: undefined, beforeLogNumber: 0n, limit: 10 };
  return service.listResults({ masterLogin, ...all, ...request }, aCall());
}

test("the results of a Master are walked newest first, and a period of them is half-open by when they were allocated", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  await subscribed(world, masterLogin, 100_00n);
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
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  await subscribed(world, masterLogin, 100_00n);
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
