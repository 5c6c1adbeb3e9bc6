import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { lockMaster } from "../store/masters.ts";
import { MASTER, OTHER_MASTER } from "../testing/fee.ts";
import {
  anInvestor,
  aWorld,
  endWeek,
  expectToReconcile,
  receive,
  paymentsOf,
  result,
  settle,
  passTime,
  type World,
} from "../testing/world.ts";
import { payFees } from "./pay-fees.ts";
import { readAllocations } from "./read-allocations.ts";

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
  await receive(world);
  await readAllocations(world.deps);
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
