import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { setBalance } from "#test/support/platform-fake/ledger.ts";
import { countLockWaiters } from "#test/support/lock-waiters.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { readAllocations } from "../jobs/read-allocations.ts";
import { lockMaster } from "../store/masters.ts";
import { aCall, INVESTOR, MASTER, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { aLeave, collectAll, decideLeave } from "../testing/leaving.ts";
import {
  anInvestor,
  aWorld,
  balanceOf,
  debtsOf,
  endWeek,
  expectToReconcile,
  owe,
  paymentsOf,
  receive,
  result,
  runsOf,
  settle,
  type World,
} from "../testing/world.ts";
import { crystallise } from "./crystallise.ts";
import { updateConfiguration } from "./configure.ts";

async function disable({ deps, clock }: World): Promise<void> {
  clock.now = new Date(clock.now.getTime() + 1);
  const change = { ratePpm: undefined, enabled: false, effectiveSince: undefined, upsert: true };
  await updateConfiguration(deps, { investorLogin: INVESTOR, ...change }, aCall("off"));
}

test("a withdrawal in profit pays the whole pending fee first", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  const at = result(world, { [INVESTOR]: "+2000.00" });
  expect(await decideLeave(world)).toEqual({ pending: "600.00", items: [["fee:9001:5001:WD1", "600.00", false]] });
  expect(balanceOf(world, INVESTOR)).toBe("12000.00");
  expect(await collectAll(world)).toBe("600.00");
  expect(balanceOf(world, INVESTOR)).toBe("11400.00");
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("600.00");
  expect(await runsOf(world)).toEqual([
    { kind: "ON_DEMAND", status: "EXECUTED", start: new Date("2026-01-03"), end: at },
  ]);
  const keys = await many(world.deps.pool, sql`select unique_key as key from payment_credit`);
  expect(keys).toEqual([{ key: `PF:${INVESTOR}:${MASTER}:1:WD1` }]);

  setBalance(world.platform.ledger, INVESTOR, 6_400_00n);
  result(world, { [INVESTOR]: "+100.00" });
  endWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  expect(balanceOf(world, INVESTOR)).toBe("6470.00");
  await expectToReconcile(world);
});

test("a withdrawal in a drawdown pays no fee and does not change the mark", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: "-2000.00" });
  expect(await decideLeave(world)).toEqual({ pending: "0.00", items: [] });
  expect(await collectAll(world)).toBe("0.00");
  setBalance(world.platform.ledger, INVESTOR, 4_000_00n);
  result(world, { [INVESTOR]: "+1200.00" });
  endWeek(world, { [INVESTOR]: "0.00" });
  result(world, { [INVESTOR]: "+1000.00" });
  endWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  expect(balanceOf(world, INVESTOR)).toBe("6140.00");
  expect(await runsOf(world)).toHaveLength(1);
});

test("an exit in profit pays the due fee, rounded down", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "5000.00", ratePpm: 275_000 });
  result(world, { [INVESTOR]: "+421.37" });
  const leave = { key: "exit:1", suffix: "UA1" };
  expect(await decideLeave(world, leave)).toMatchObject({ pending: "115.87" });
  expect(await collectAll(world, "exit:1")).toBe("115.87");
  expect(balanceOf(world, INVESTOR)).toBe("5305.50");
  expect(await paymentsOf(world)).toMatchObject([{ suffix: "UA1", status: "EXECUTED", paid: "115.87" }]);
});

test("a repeated key gets the same answer without a second decision", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: "+2000.00" });
  const requested = aLeave(world);
  const answers = await Promise.all([1, 2, 3].map(() => crystallise(world.deps, requested, aCall())));
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  await collectAll(world);
  result(world, { [INVESTOR]: "+500.00" });
  expect(await crystallise(world.deps, requested, aCall())).toEqual(answers[0]);
  expect(await collectAll(world)).toBe("600.00");
  expect(await paymentsOf(world)).toHaveLength(1);
  const otherInvestor = crystallise(world.deps, { ...requested, investorLogin: "9002" }, aCall());
  await expect(otherInvestor).rejects.toMatchObject({ code: "validation_failed" });
});

test("a decision counts the allocations up to its number and none after it", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: "+100.00" });
  const requested = aLeave(world);
  result(world, { [INVESTOR]: "+900.00" });
  await crystallise(world.deps, requested, aCall());
  expect(await decideLeave(world, { key: "funding:withdrawal:2", suffix: "WD2" })).toMatchObject({ pending: "270.00" });
  expect(await paymentsOf(world)).toMatchObject([{ due: "30.00" }, { due: "270.00" }]);
});

test("closed weeks are decided first, for all Investors, and open weekly payments are collected first", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  await anInvestor(world, { login: "9002", deposit: "10000.00" });
  result(world, { [INVESTOR]: "+1000.00", 9002: "+100.00" });
  endWeek(world, { [INVESTOR]: "0.00", 9002: "0.00" });
  result(world, { [INVESTOR]: "+200.00" });
  expect(await decideLeave(world)).toEqual({
    pending: "60.00",
    items: [
      ["fee:9001:5001:W:2026-01-10T00:00:00.000Z", "300.00", true],
      ["fee:9001:5001:WD1", "60.00", false],
    ],
  });
  expect(await collectAll(world)).toBe("360.00");
  expect(balanceOf(world, "9002")).toBe("10100.00");
  await settle(world);
  expect(balanceOf(world, "9002")).toBe("10070.00");
  expect(balanceOf(world, INVESTOR)).toBe("10840.00");
  // The second run starts at the end of the first one.
  expect(await runsOf(world)).toMatchObject([
    { kind: "WEEKLY" },
    { start: new Date("2026-01-10"), status: "EXECUTED" },
  ]);
});

test("while fees are disabled nothing is pending, and the profit is charged when they are enabled again", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: "+1000.00" });
  await disable(world);
  world.clock.now = new Date(world.clock.now.getTime() + 1);
  expect(await decideLeave(world)).toEqual({ pending: "0.00", items: [] });
  const enable = { ratePpm: undefined, enabled: true, effectiveSince: undefined, upsert: true };
  await updateConfiguration(world.deps, { investorLogin: INVESTOR, ...enable }, aCall("on"));
  world.clock.now = new Date(world.clock.now.getTime() + 1);
  expect(await decideLeave(world, { key: "again" })).toMatchObject({ pending: "300.00" });
});

test("debts to all Masters are collected, oldest first, each to the payment account of its Master", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "100.00" });
  world.platform.rules.refuse = () => "insufficient_funds";
  result(world, { [INVESTOR]: "+1000.00" }, OTHER_MASTER);
  endWeek(world, { [INVESTOR]: "0.00" }, OTHER_MASTER);
  await settle(world);
  result(world, { [INVESTOR]: "+500.00" });
  endWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  expect(await debtsOf(world)).toEqual({ "9001:5001": "150.00", "9001:5002": "300.00" });
  expect(await runsOf(world)).toMatchObject([{ status: "FAILED" }, { status: "FAILED" }]);

  world.platform.rules.refuse = () => undefined;
  result(world, { [INVESTOR]: "+10.00" });
  expect(await decideLeave(world)).toMatchObject({ pending: "453.00" });
  expect(await collectAll(world)).toBe("453.00");
  expect((await paymentsOf(world)).slice(-3)).toMatchObject([
    { suffix: "DEBT", master: OTHER_MASTER, paid: "300.00" },
    { suffix: "DEBT", master: MASTER, paid: "150.00" },
    { suffix: "WD1", master: MASTER, paid: "3.00" },
  ]);
  expect(balanceOf(world, OTHER_PAYMENT_ACCOUNT)).toBe("300.00");
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("153.00");
  const credits = await many(world.deps.pool, sql`select master_login as master, kind from payment_credit order by id`);
  expect(credits).toEqual([
    { master: OTHER_MASTER, kind: "PF_DEBT" },
    { master: MASTER, kind: "PF_DEBT" },
    { master: MASTER, kind: "PF" },
  ]);
  expect(await debtsOf(world)).toEqual({});
  await expectToReconcile(world);
});

test("a debt that arises while a withdrawal waits for the row of its Master is collected", async () => {
  const world = await aWorld();
  const { pool } = world.deps;
  await anInvestor(world, { deposit: "1000.00" });
  result(world, { [INVESTOR]: "+100.00" });
  await anInvestor(world, { login: "9002" });
  result(world, { 9002: "+1.00" }, OTHER_MASTER);
  await receive(world);
  await readAllocations(world.deps);
  const { leaving } = await inTransaction(pool, async (tx) => {
    await lockMaster(tx, MASTER);
    const answer = crystallise(world.deps, aLeave(world), aCall());
    await expect.poll(() => countLockWaiters(pool), { interval: 5 }).toBe(1);
    await owe(pool, INVESTOR, OTHER_MASTER);
    return { leaving: answer };
  });
  expect((await leaving).items).toHaveLength(2);
});

test("outside a pool only debts are due", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  expect(await decideLeave(world, { key: "none", masterLogin: "" })).toEqual({ pending: "0.00", items: [] });
  world.platform.rules.refuse = () => "absent";
  result(world, { [INVESTOR]: "+100.00" });
  endWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  world.platform.rules.refuse = () => undefined;
  result(world, { [INVESTOR]: "+100.00" });
  const outside = { masterLogin: "", subscriptionId: 0n, periodStart: undefined };
  expect(await decideLeave(world, outside)).toMatchObject({
    pending: "30.00",
    items: [[expect.anything(), "30.00", false]],
  });
  expect(await collectAll(world)).toBe("30.00");
  expect((await paymentsOf(world)).at(-1)).toMatchObject({ suffix: "DEBT", master: MASTER, status: "EXECUTED" });
  await expectToReconcile(world);
});

test("an Investor without a configuration owes nothing", async () => {
  const world = await aWorld();
  setBalance(world.platform.ledger, INVESTOR, 100_00n);
  result(world, { [INVESTOR]: "+1000.00" });
  expect(await decideLeave(world)).toEqual({ pending: "0.00", items: [] });
  endWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  expect(await runsOf(world)).toEqual([]);
});
