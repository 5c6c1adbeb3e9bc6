import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { markMaster } from "../processes/allocate/mark-master.ts";
import { expectBooksToReconcile } from "./books.ts";
import { decide, reviewWithReason } from "./reviews.ts";
import { decideWithdrawal, deposit, holdForWithdrawal, withdraw } from "./funding.ts";
import { aWorldWithHourlyWeeks, before, passTimeTo, WAIT_MS } from "./hourly-weeks.ts";
import { entriesOf, inBucket, partsOf } from "./ledger.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, subscribed, whileJobsRun, settleAndReconcile } from "./settle.ts";
import { SYMBOL, trader } from "./trader.ts";
import { aCall, aMaster, passTime, type World } from "./world.ts";

/** The results and the cut-offs of weeks, in their order. */
async function timelineOf(world: World, masterLogin: string): Promise<(bigint | Date | null)[]> {
  const entries = await entriesOf(world, masterLogin);
  expect(entries.map(({ number }) => number)).toEqual(entries.map((_, index) => BigInt(index + 1)));
  return entries.map(({ result, cutOff }) => result ?? cutOff);
}

test("the weeks of a stopped Master wait, and are closed in order after it is resumed", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  const { masterLogin } = await subscribed(world, aMaster(world), 1_000_00n);
  const { ledger } = world.platform;
  enter(ledger, masterLogin, { kind: MovementKind.AMENDMENT, amount: 0n, reason: "deal_changed", dealId: 77n });
  await settle(world);
  trader(world, masterLogin).result(10_00n, { at: before(cutOff(0)) });
  await passTimeTo(world, cutOff(0));
  await settle(world);
  // The job may have listed the Master before the stop.
  await markMaster(world.deps, masterLogin, aCall());
  expect(await timelineOf(world, masterLogin)).toEqual([]);
  trader(world, masterLogin).result(20_00n, { at: before(cutOff(1)) });
  await passTimeTo(world, cutOff(1));
  await settle(world);
  expect(await timelineOf(world, masterLogin)).toEqual([]);
  await decide(world, await reviewWithReason(world, "stopped"), "resume");
  await settleAndReconcile(world);
  expect(await timelineOf(world, masterLogin)).toEqual([10_00n, cutOff(0), 20_00n, cutOff(1)]);
});

test("a week is closed between two results, and a deal dated at the cut-off comes after it", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  const { masterLogin } = await subscribed(world, aMaster(world), 1_000_00n);
  const master = trader(world, masterLogin);
  master.result(10_00n, { at: before(cutOff(0)) });
  master.result(20_00n, { at: cutOff(0) });
  await passTimeTo(world, cutOff(0), 1_000);
  await settle(world);
  // The trading platform may still report deals from before the cut-off.
  expect(await timelineOf(world, masterLogin)).toEqual([10_00n]);
  await passTimeTo(world, cutOff(0));
  await settle(world);
  expect(await timelineOf(world, masterLogin)).toEqual([10_00n, cutOff(0), 20_00n]);
  expect(await partsOf(world, masterLogin, 2n)).toEqual([[0n, 0n]]);
  const [, week] = await entriesOf(world, masterLogin);
  expect(week).toMatchObject({ periodStart: cutOff(-1), cutOff: cutOff(0), markedAt: null });
  await expectBooksToReconcile(world);
});

test("a week is closed with each Investor's share of the floating result at its end, also when it was realised since", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  const masterLogin = aMaster(world, 0n);
  await subscribed(world, masterLogin, 750_00n);
  await subscribed(world, masterLogin, 250_00n);
  await subscribed(world, masterLogin, 0n);
  const master = trader(world, masterLogin);
  const stillOpen = master.open({ at: before(cutOff(0)) });
  const closed = master.open({ at: before(cutOff(0)) });
  await settle(world);
  await passTimeTo(world, cutOff(0));
  master.float(stillOpen, -80_00n);
  master.close(closed, { profit: 30_00n, swap: -10_00n, commission: -1_00n, at: cutOff(0) });
  const later = master.open({ at: cutOff(0) });
  master.float(later, 999_00n);
  await settle(world);
  expect(await timelineOf(world, masterLogin)).toEqual([cutOff(0), 19_00n]);
  const e8 = 1_000_000n;
  expect(await partsOf(world, masterLogin, 1n)).toEqual([
    [0n, -45_00n * e8],
    [0n, -15_00n * e8],
    [0n, 0n],
  ]);
  const [week] = await entriesOf(world, masterLogin);
  expect(week).toMatchObject({ markedAt: expect.any(Date) });
  await expectBooksToReconcile(world);
});

test("while the pool is empty no week is closed, and none is closed later for that time", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  const masterLogin = aMaster(world, 0n);
  const master = trader(world, masterLogin);
  await passTimeTo(world, cutOff(2));
  master.result(5_00n);
  await settle(world);
  const pair = await subscribed(world, masterLogin, 100_00n);
  await passTimeTo(world, cutOff(3));
  await settle(world);
  await world.service.unassign(pair, aCall());
  await settle(world);
  await passTimeTo(world, cutOff(6));
  master.result(5_00n);
  await settleAndReconcile(world);
  expect(await timelineOf(world, masterLogin)).toEqual([5_00n, cutOff(3), 5_00n]);
});

test("money that came before the end of a week joins before that week can be closed, and counts in it", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  const masterLogin = aMaster(world, 0n);
  await subscribed(world, masterLogin, 100_00n);
  await passTimeTo(world, cutOff(0), 1_000);
  await subscribed(world, masterLogin, 100_00n);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([100_00n, 0n]);
  await passTimeTo(world, cutOff(1), 1_000);
  await settle(world);
  expect(await timelineOf(world, masterLogin)).toEqual([cutOff(0)]);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([100_00n, 100_00n]);
  await passTimeTo(world, cutOff(1));
  await settle(world);
  expect(await timelineOf(world, masterLogin)).toEqual([cutOff(0), cutOff(1)]);
  const rows = [await partsOf(world, masterLogin, 1n), await partsOf(world, masterLogin, 2n)];
  expect(rows.map(({ length }) => length)).toEqual([1, 2]);
  await expectBooksToReconcile(world);
});

test("a withdrawal closes the due weeks itself, before its own log position, and pays the fee of the week with that of the time since", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  world.fees.rules.ratePpm = 300_000;
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 1_000_00n);
  const master = trader(world, masterLogin);
  master.result(100_00n, { at: before(cutOff(0)) });
  master.result(50_00n, { at: cutOff(0) });
  await passTimeTo(world, cutOff(0), 1_000);
  await deliver(world);
  const withdrawn = withdraw(world, investorLogin, 9_999_00n, "1");
  expect(await whileJobsRun(world, withdrawn)).toBe(1_105_00n);
  expect(await timelineOf(world, masterLogin)).toEqual([100_00n, cutOff(0), 50_00n]);
  expect(world.fees.weeks).toMatchObject([
    {
      masterLogin,
      periodStart: cutOff(-1),
      periodEnd: cutOff(0),
      isLast: true,
      investors: [{ due: [{ amountMinor: 30_00n }] }],
    },
  ]);
  const [week] = world.fees.weeks.flatMap(({ investors }) => investors.flatMap(({ due }) => due.map(({ key }) => key)));
  const [sent] = [...world.fees.recorded.values()].map(({ request }) => request);
  const own = { investorLogin, openWeeklyKeys: [week], due: [{ amountMinor: 15_00n }] };
  expect(sent).toMatchObject({ masterLogin, periodStart: cutOff(0), investors: [own] });
  await settleAndReconcile(world);
});

test("a due week does not block the withdrawal of an Investor that has no part in it", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  const masterLogin = aMaster(world, 0n);
  await subscribed(world, masterLogin, 100_00n);
  await passTimeTo(world, cutOff(0), 100);
  // It joins, with 0.00, after the end of the week, which closes with its own withdrawal and whose fees are not decided yet.
  const { investorLogin } = await subscribed(world, masterLogin, 0n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 1_00n);
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject({ effective: 0n });
  expect(await many(world.deps.pool, sql`select number from open_week`)).toEqual([{ number: 1n }]);
  const closed = await many(world.deps.pool, sql`select cut_off from allocation_entry where kind = 'WEEK'`);
  expect(closed).toEqual([{ cut_off: cutOff(0) }]);
});

test("a backlog of thousands of deals after the end of a week does not prevent its close", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  const { masterLogin } = await subscribed(world, aMaster(world), 1_000_00n);
  const master = trader(world, masterLogin);
  master.result(10_00n, { at: before(cutOff(0)) });
  for (let count = 0; count < 5_001; count += 1) master.result(0n, { at: cutOff(0) });
  await passTimeTo(world, cutOff(0));
  await settle(world);
  const entries = await timelineOf(world, masterLogin);
  expect(entries.slice(0, 3)).toEqual([10_00n, cutOff(0), 0n]);
  expect(entries).toHaveLength(5_003);
}, 120_000);

test("a week ends by the clock of the trading platform: one that is late by minutes delays it, and no deal is late", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  const { masterLogin } = await subscribed(world, aMaster(world), 1_000_00n);
  world.platform.state.aheadMs = -180_000;
  await passTimeTo(world, cutOff(0));
  await settle(world);
  expect(await timelineOf(world, masterLogin)).toEqual([]);

  // By the platform's clock it is two minutes before the cut-off.
  trader(world, masterLogin).result(10_00n, { at: new Date(cutOff(0).getTime() - 120_000) });
  await passTime(world, 170_000);
  await settle(world);
  expect(await timelineOf(world, masterLogin)).toEqual([10_00n]);
  await passTime(world, 10_000 + WAIT_MS);
  await settleAndReconcile(world);
  expect(await timelineOf(world, masterLogin)).toEqual([10_00n, cutOff(0)]);
});

test("a week is closed at the last price before its cut-off, while money that joins waits for the next price", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  const masterLogin = aMaster(world, 0n);
  await subscribed(world, masterLogin, 1_000_00n);
  const { investorLogin } = await subscribed(world, masterLogin, 0n);
  const master = trader(world, masterLogin);
  const position = master.open({ at: before(cutOff(0)) });
  master.float(position, -40_00n);
  await settle(world);
  world.platform.state.oldPrices = [{ symbol: SYMBOL, tickAt: before(cutOff(0)) }];
  await deposit(world, investorLogin, 500_00n);
  await settle(world);
  await passTimeTo(world, cutOff(0));
  await settleAndReconcile(world);
  expect(await timelineOf(world, masterLogin)).toEqual([cutOff(0)]);
  expect(await partsOf(world, masterLogin, 1n)).toEqual([
    [0n, -4_000_000_000n],
    [0n, 0n],
  ]);
  expect(await inBucket(world, masterLogin, "waiting")).toEqual([0n, 500_00n]);
});
