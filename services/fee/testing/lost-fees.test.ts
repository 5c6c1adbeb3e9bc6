import { expect, test } from "vitest";
import { many, one, sql } from "#kernel/postgres/query.ts";
import { sized } from "#test/support/proof.ts";
import { crystallise, crystalliseAgain } from "../commands/crystallise.ts";
import { payFees } from "../jobs/pay-fees.ts";
import { readAllocations } from "../jobs/read-allocations.ts";
import { findLostFees } from "../processes/lost-fees/find-lost-fees.ts";
import { nextSearch } from "../store/fee-search.ts";
import { crashing } from "./crash.ts";
import { expectToTie } from "./expect-to-tie.ts";
import { aCall, INVESTOR, PAYMENT_ACCOUNT } from "./fee.ts";
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
  receive,
  result,
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
  const rows = await many<{ minor: bigint }>(deps.pool, sql`select prepaid_minor as minor from fee_pair`);
  return rows.map(({ minor }) => minor);
}

test("the fee of a withdrawal that had ended before its rows were lost is not charged again by the week", async () => {
  const world = await aProfit();
  const restore = await backUp(world.deps.pool);
  await decideLeave(world);
  expect(await collectAll(world)).toBe("300.00");
  await settle(world);
  await restore();
  await findLostFees(world.deps, crystalliseAgain);
  await closeWeek(world);

  expect([balanceOf(world, INVESTOR), balanceOf(world, PAYMENT_ACCOUNT)]).toEqual(["10700.00", "300.00"]);
  expect(await paymentsOf(world)).toMatchObject([{ suffix: "WD1", due: "300.00", paid: "300.00", status: "EXECUTED" }]);
  expect(await collectAll(world)).toBe("300.00");
  await expectToTie(world);
});

test("the search is due in a restored database until all fees are known", async () => {
  const world = await aProfit();
  const { pool } = world.deps;
  const isDue = () => one<{ due: boolean }>(pool, sql`select coalesce(${nextSearch} <= now(), false) as due`);
  const restore = await backUp(pool);
  expect(await isDue()).toEqual({ due: false });
  await restore();
  expect(await isDue()).toEqual({ due: true });

  await findLostFees(world.deps, crystalliseAgain);

  expect(await isDue()).toEqual({ due: false });
});

test("nothing is decided, sent or recorded in a restored database before all fees are known", async () => {
  const world = await aProfit();
  const restore = await backUp(world.deps.pool);
  await decideLeave(world);
  await collectAll(world);
  await restore(false);
  await findLostFees(world.deps, crystalliseAgain);
  endWeek(world, { [INVESTOR]: "0.00" });
  await receive(world);
  await readAllocations(world.deps);
  await payFees(world.deps);
  const unavailable = { code: "service_unavailable", outcome: "not_executed" };
  await expect(collectAll(world)).rejects.toMatchObject(unavailable);
  await expect(crystallise(world.deps, aLeave(world, { key: "new" }), aCall())).rejects.toMatchObject(unavailable);
  expect([await paymentsOf(world), balanceOf(world, PAYMENT_ACCOUNT)]).toEqual([[], "300.00"]);
});

test("leaves between two weeks are decided again before the weeks that follow them, in whatever sequence they were collected", async () => {
  const world = await aProfit();
  await anInvestor(world, { login: "9002", deposit: "10000.00" });
  const restore = await backUp(world.deps.pool);
  await decideLeave(world);
  await closeWeek(world);
  result(world, { [INVESTOR]: "+100.00" });
  const second = { key: "funding:withdrawal:2", suffix: "WD2" };
  await decideLeave(world, second);
  expect([await collectAll(world, second.key), await collectAll(world)]).toEqual(["30.00", "300.00"]);
  await settle(world);
  const before = await paymentsOf(world);
  await restore();
  await findLostFees(world.deps, crystalliseAgain);
  await closeWeek(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("330.00");
  expect(await paymentsOf(world)).toEqual(before);
  await expectToTie(world);
});

test("a debited fee that no decision comes to again is taken from the fees that are due", async () => {
  const world = await aProfit();
  const restore = await backUp(world.deps.pool);
  await decideLeave(world);
  await collectAll(world);
  await restore();
  // The service subscription has lost the leave too.
  world.subscriptions.leaves.clear();
  await findLostFees(world.deps, crystalliseAgain);
  expect(await prepaidOf(world)).toEqual([300_00n]);
  result(world, { [INVESTOR]: "+100.00" });
  await closeWeek(world);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("330.00");
  expect([await debtsOf(world), await prepaidOf(world)]).toEqual([{}, [0n]]);
  await expectToTie(world);
});

test("a debit whose credit is pending, and one that was refused, are recorded as before", async () => {
  const world = await aProfit();
  const restore = await backUp(world.deps.pool);
  await decideLeave(world);
  world.platform.rules.delaysCredit = () => true;
  await collectAll(world);
  await restore();
  await findLostFees(world.deps, crystalliseAgain);
  world.platform.rules.delaysCredit = () => false;
  await closeWeek(world);
  expect(await paymentsOf(world)).toMatchObject([{ suffix: "WD1", paid: "300.00", status: "EXECUTED" }]);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("300.00");
  await expectToTie(world);
});

test("after a crash at any point of the search the fee counts once, also with two replicas", async () => {
  for (let points = 0; ; points += STRIDE) {
    const world = await aProfit();
    const restore = await backUp(world.deps.pool);
    await decideLeave(world);
    await collectAll(world);
    await restore();
    const { deps, crashed, pointsPassed } = crashing(world.deps, points);
    await Promise.race([crashed, findLostFees(deps, crystalliseAgain)]);
    const isOver = pointsPassed() < points;
    for (let round = 0; round < 3; round += 1) {
      await Promise.allSettled([
        findLostFees(world.deps, crystalliseAgain),
        findLostFees(world.deps, crystalliseAgain),
      ]);
    }
    await closeWeek(world);
    expect(await paymentsOf(world), `after ${points} points`).toMatchObject([{ suffix: "WD1", paid: "300.00" }]);
    expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("300.00");
    await expectToTie(world);
    if (isOver) return;
  }
}, 120_000);
