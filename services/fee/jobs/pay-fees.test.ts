import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { enter, lastEntry, setBalance } from "#test/support/platform-fake/ledger.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { late } from "../checks/late.ts";
import type { Deps } from "../deps.ts";
import { lockMaster } from "../store/masters.ts";
import { decideWeeks } from "../testing/deciding.ts";
import { INVESTOR, MASTER, OTHER_MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { collectAll, decideLeave } from "../testing/leaving.ts";
import {
  anInvestor,
  aWeek,
  aWorld,
  balanceOf,
  debtsOf,
  endWeek,
  expectToReconcile,
  paymentsOf,
  result,
  settle,
  passTime,
  type World,
} from "../testing/world.ts";
import { payFees } from "./pay-fees.ts";

/** A week after which 9001 has a fee due to one Master, and 9002 to the other. */
async function aWeekOfTwoMasters(): Promise<World> {
  const world = await aWorld();
  await anInvestor(world, { login: "9001", deposit: "1000.00" });
  await anInvestor(world, { login: "9002", deposit: "1000.00" });
  result(world, { 9001: "+100.00" });
  result(world, { 9002: "+200.00" }, OTHER_MASTER);
  endWeek(world, { 9001: "0.00" });
  world.week -= 1;
  endWeek(world, { 9002: "0.00" }, OTHER_MASTER);
  await decideWeeks(world);
  return world;
}

async function statuses(world: World): Promise<Record<string, string>> {
  return Object.fromEntries((await paymentsOf(world)).map(({ investor, status }) => [investor, status]));
}

test("while the row of one Master is locked, the payments to other Masters are recorded", async () => {
  const world = await aWeekOfTwoMasters();

  await inTransaction(world.deps.pool, async (tx) => {
    await lockMaster(tx, MASTER);
    await payFees(world.deps);
  });

  expect(await statuses(world)).toEqual({ 9001: "EXECUTING", 9002: "EXECUTED" });
  await passTime(world);
  await settle(world);
  expect(await statuses(world)).toEqual({ 9001: "EXECUTED", 9002: "EXECUTED" });
  await expectToReconcile(world);
});

test.each<[string, (world: World) => Promise<unknown>]>([
  ["a week", (world) => (endWeek(world, { [INVESTOR]: "0.00" }), settle(world))],
  [
    "a withdrawal",
    async (world) => (await decideLeave(world), await collectAll(world), await passTime(world), await settle(world)),
  ],
])("a deposit that is not filed yet pays no fee of %s: the rest is debt", async (_what, collect) => {
  const world = await aWorld();
  const { ledger } = world.platform;
  await anInvestor(world, { deposit: "20.00" });
  result(world, { [INVESTOR]: "+333.34" });
  await decideWeeks(world);
  setBalance(ledger, INVESTOR, 20_00n);
  world.subscriptions.floors.set(INVESTOR, 0n);
  world.subscriptions.filedNumbers.set(INVESTOR, lastEntry(ledger, INVESTOR).number);
  enter(ledger, INVESTOR, { kind: MovementKind.DEPOSIT, amount: 500_00n });
  await collect(world);
  expect([balanceOf(world, INVESTOR), balanceOf(world, PAYMENT_ACCOUNT)]).toEqual(["500.00", "20.00"]);
  expect(await debtsOf(world)).toEqual({ [`${INVESTOR}:${MASTER}`]: "80.00" });
  await expectToReconcile(world);
});

test("an invalid answer delays only its own payment", async () => {
  const world = await aWeekOfTwoMasters();
  const { platform } = world.deps;
  const invalidPlatform: Deps["platform"] = {
    ...platform,
    async transferBatch(request, context) {
      const { answers } = await platform.transferBatch(request, context);
      return {
        answers: answers.map(({ answer }) => {
          if (answer?.$case !== "result" || answer.value.legs[0]?.login !== "9001") return { answer };
          const legs = answer.value.legs.map((leg) => ({ ...leg, dealId: 0n }));
          return { answer: { $case: "result", value: { ...answer.value, legs } } };
        }),
      };
    },
  };

  await payFees({ ...world.deps, platform: invalidPlatform });

  expect(await statuses(world)).toEqual({ 9001: "EXECUTING", 9002: "EXECUTED" });
  await passTime(world);
  await settle(world);
  expect(await statuses(world)).toEqual({ 9001: "EXECUTED", 9002: "EXECUTED" });
  await expectToReconcile(world);
});

test("fees of weeks that close while an Investor and the payment account are archived are paid once each when that is back", async () => {
  const world = await aWorld();
  const { archived } = world.platform.ledger;
  for (const login of ["9001", "9002", "9003"]) await anInvestor(world, { login, deposit: "1000.00" });
  setBalance(world.platform.ledger, "9001", 0n);
  archived.add("9001").add(PAYMENT_ACCOUNT);
  for (let weeks = 0; weeks < 2; weeks += 1) {
    aWeek(world, { 9001: "0.00", 9002: "+100.00", 9003: "+50.00" });
    await settle(world);
    await passTime(world);
    await settle(world);
  }
  const waiting = await many(
    world.deps.pool,
    sql`select investor_login as login, status, amount_minor as paid, reason from fee_payment order by id`,
  );
  const due = (login: string) => ({ login, status: "EXECUTING", paid: 0n, reason: "account_archived" });
  expect(waiting).toEqual(["9002", "9003", "9002", "9003"].map((login) => due(login)));
  expect(["9002", "9003"].map((login) => balanceOf(world, login))).toEqual(["1200.00", "1100.00"]);

  await world.deps.pool.query("update fee_payment set created_at = clock_timestamp() - interval '2 hours'");
  expect((await late(world.deps).run({ cursor: "", pendingBreaks: [] })).findings).toEqual([]);
  archived.delete(PAYMENT_ACCOUNT);
  for (let tries = 0; tries < 2; tries += 1) {
    await passTime(world);
    await settle(world);
  }
  expect((await paymentsOf(world)).map(({ investor, paid, status }) => [investor, paid, status])).toEqual([
    ["9002", "30.00", "EXECUTED"],
    ["9003", "15.00", "EXECUTED"],
    ["9002", "30.00", "EXECUTED"],
    ["9003", "15.00", "EXECUTED"],
  ]);
  const balances = ["9001", "9002", "9003", PAYMENT_ACCOUNT].map((login) => balanceOf(world, login));
  expect(balances).toEqual(["0.00", "1140.00", "1070.00", "90.00"]);
  await expectToReconcile(world);
});
