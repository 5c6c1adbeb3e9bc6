import { expect, test } from "vitest";
import { many, one, sql } from "#kernel/postgres/query.ts";
import { sized } from "#test/support/proof.ts";
import { recordFees } from "../commands/record-fees.ts";
import { payFees } from "../jobs/pay-fees.ts";
import { findLostFees } from "../processes/lost-fees/find-lost-fees.ts";
import { nextSearch } from "../store/fee-search.ts";
import { crashing } from "./crash.ts";
import { expectToTie } from "./expect-to-tie.ts";
import { planWeeks, requestOf } from "./deciding.ts";
import { aCall, INVESTOR, MASTER, PAYMENT_ACCOUNT } from "./fee.ts";
import { allocate } from "./subscription-fake.ts";
import { aLeave, collectAll, decideLeave } from "./leaving.ts";
import { backUp } from "./restore.ts";
import {
  anInvestor,
  aWorld,
  balanceOf,
  debtsOf,
  endWeek,
  passTime,
  paymentsOf,
  result,
  runsOf,
  settle,
  type World,
} from "./world.ts";

/** `make proof` crashes at each point, `make test` at each fifth: transactions have different numbers of points. */
const STRIDE = sized({ test: 5, proof: 1 });

/** A profit of 1,000.00 at 30 %: a fee of 300.00. */
async function aProfit(): Promise<World> {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: "+1000.00" });
  return world;
}

async function closeWeek(world: World, floating = "0.00"): Promise<void> {
  endWeek(world, { [INVESTOR]: floating });
  for (let round = 0; round < 3; round += 1) {
    await settle(world);
    await passTime(world);
  }
}

async function prepaidOf({ deps }: World): Promise<bigint[]> {
  const rows = await many<{ minor: bigint }>(deps.pool, sql`select prepaid_minor as minor from fee_debt`);
  return rows.map(({ minor }) => minor);
}

/** The withdrawal is decided, and fee has no record of it, in the state that is restored later. */
async function restoredBeforeRecord(world: World): Promise<() => Promise<void>> {
  await requestOf(world, world.deps, aLeave());
  return await backUp(world);
}

test("a fee that was decided before the restored state, and collected after it, is recorded before it is looked for", async () => {
  const world = await aProfit();
  const restore = await restoredBeforeRecord(world);
  await decideLeave(world);
  expect(await collectAll(world)).toBe("300.00");
  await settle(world);
  await restore();
  await findLostFees(world.deps);
  await closeWeek(world);

  expect([balanceOf(world, INVESTOR), balanceOf(world, PAYMENT_ACCOUNT)]).toEqual(["10700.00", "300.00"]);
  expect(await paymentsOf(world)).toMatchObject([{ suffix: "WD1", due: "300.00", paid: "300.00", status: "EXECUTED" }]);
  expect(await decideLeave(world)).toMatchObject({ pending: "300.00" });
  expect(await collectAll(world)).toBe("300.00");
  await expectToTie(world);
});

test("the search is due in a restored database until all fees are known", async () => {
  const world = await aProfit();
  const { pool } = world.deps;
  const isDue = () => one<{ due: boolean }>(pool, sql`select coalesce(${nextSearch} <= now(), false) as due`);
  const restore = await backUp(world);
  expect(await isDue()).toEqual({ due: false });
  await restore();
  expect(await isDue()).toEqual({ due: true });

  await findLostFees(world.deps);

  expect(await isDue()).toEqual({ due: false });
});

test("nothing is decided, sent or recorded in a restored database before all fees are known", async () => {
  const world = await aProfit();
  const restore = await backUp(world);
  await decideLeave(world);
  await collectAll(world);
  const [{ request } = { request: undefined }] = world.subscriptions.books.decisions;
  await restore(false);
  await findLostFees(world.deps);
  await payFees(world.deps);
  const unavailable = { code: "service_unavailable", outcome: "not_executed" };
  await expect(collectAll(world)).rejects.toMatchObject(unavailable);
  await expect(decideLeave(world, { key: "new" })).rejects.toMatchObject(unavailable);
  await expect(recordFees(world.deps, request!, aCall())).rejects.toMatchObject(unavailable);
  expect([await paymentsOf(world), balanceOf(world, PAYMENT_ACCOUNT)]).toEqual([[], "300.00"]);
});

test("all pages of unrecorded decisions are recorded in their sequence, weeks too", async () => {
  const world = { ...(await aProfit()), investorsPerPage: 2 };
  const logins = [INVESTOR, "9002", "9003", "9004"];
  for (const login of logins.slice(1)) await anInvestor(world, { login, deposit: "10000.00" });
  await requestOf(world, world.deps, aLeave());
  result(world, Object.fromEntries(logins.map((login) => [login, "+100.00"])));
  endWeek(world, Object.fromEntries(logins.map((login) => [login, "0.00"])));
  await planWeeks(world);
  expect(world.subscriptions.books.decisions).toHaveLength(3);
  const restore = await backUp(world);
  await settle(world);
  expect(await collectAll(world)).toBe("300.00");
  const before = await paymentsOf(world);
  await restore();
  await findLostFees(world.deps);
  expect(await paymentsOf(world)).toMatchObject(before.map(({ investor, due, paid }) => ({ investor, due, paid })));
  await settle(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("420.00");
  expect(await runsOf(world)).toMatchObject([{ kind: "ON_DEMAND" }, { kind: "WEEKLY", status: "EXECUTED" }]);
  await expectToTie(world);
});

test("a debited fee whose decision was lost too is taken from the fees that are due", async () => {
  const world = await aProfit();
  const restore = await backUp(world);
  await decideLeave(world);
  await collectAll(world);
  await restore();
  await findLostFees(world.deps);
  expect(await prepaidOf(world)).toEqual([300_00n]);
  result(world, { [INVESTOR]: "+100.00" });
  await closeWeek(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("330.00");
  expect([await debtsOf(world), await prepaidOf(world)]).toEqual([{}, [0n]]);
  await expectToTie(world);
});

test("a debit whose credit is pending is recorded as before", async () => {
  const world = await aProfit();
  const restore = await restoredBeforeRecord(world);
  await decideLeave(world);
  world.platform.rules.delaysCredit = () => true;
  await collectAll(world);
  await restore();
  await findLostFees(world.deps);
  world.platform.rules.delaysCredit = () => false;
  await closeWeek(world);
  expect(await paymentsOf(world)).toMatchObject([{ suffix: "WD1", paid: "300.00", status: "EXECUTED" }]);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("300.00");
  await expectToTie(world);
});

test("after a crash at any point of the search each fee counts once, also with two replicas", async () => {
  for (let points = 0; ; points += STRIDE) {
    const world = await aProfit();
    const restore = await restoredBeforeRecord(world);
    await decideLeave(world);
    // This one is lost with its decision.
    result(world, { [INVESTOR]: "+100.00" });
    await decideLeave(world, { key: "withdrawal:2", suffix: "WD2" });
    expect([await collectAll(world), await collectAll(world, "withdrawal:2")]).toEqual(["300.00", "30.00"]);
    await restore();
    const { deps, crashed, pointsPassed } = crashing(world.deps, points);
    await Promise.race([crashed, findLostFees(deps)]);
    const isOver = pointsPassed() < points;
    for (let round = 0; round < 3; round += 1) {
      await Promise.allSettled([findLostFees(world.deps), findLostFees(world.deps)]);
    }
    allocate(world.subscriptions, MASTER, world.clock.now, { [INVESTOR]: 100_00n });
    await closeWeek(world);
    expect(await paymentsOf(world), `after ${points} points`).toMatchObject([
      { suffix: "WD1", paid: "300.00", status: "EXECUTED" },
      { suffix: expect.stringMatching(/^IM/), paid: "30.00", status: "EXECUTED" },
      { suffix: "W", due: "30.00", paid: "0.00", status: "SKIPPED" },
    ]);
    expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("330.00");
    await expectToTie(world);
    if (isOver) return;
  }
}, 120_000);
