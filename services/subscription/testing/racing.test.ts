import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { runningService, expectConverged } from "./run-service.ts";
import { expectBooksToReconcile } from "./books.ts";
import { deposit, withdraw } from "./funding.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import { subscribed } from "./settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld } from "./world.ts";

vi.setConfig({ testTimeout: 120_000 });

test("twenty concurrent deposits to one Investor are all applied once", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  await using _service = runningService(world);
  await Promise.all(Array.from({ length: 20 }, () => deposit(world, investorLogin, 7_77n)));
  await expectConverged(world, masterLogin);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(500_00n + 20n * 7_77n);
  // Netted: twenty deposits need fewer than twenty calls.
  const mirrors = [...world.platform.byKey.keys()].filter((key) => key.startsWith("subscription:mirror:"));
  expect(mirrors.length).toBeLessThan(20);
});

test("deposits concurrent with an assign end up in the pool in either order", async () => {
  const world = await aWorld();
  await using _service = runningService(world);
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  const racing = Array.from({ length: 10 }, async (_, index) => {
    await sleep(index * 5);
    await deposit(world, pair.investorLogin, 3_00n);
  });
  await Promise.all([world.service.assign(anAssignment(pair), aCall()), ...racing]);
  await expectConverged(world, pair.masterLogin);
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(530_00n);
});

test("deposits concurrent with an unassign leave with it or stay outside, and nothing remains on the Master", async () => {
  const world = await aWorld();
  const pair = await subscribed(world, aMaster(world), 500_00n);
  await using _service = runningService(world);
  const racing = Array.from({ length: 10 }, async (_, index) => {
    await sleep(index * 10);
    await deposit(world, pair.investorLogin, 3_00n);
  });
  await Promise.all([world.service.unassign(pair, aCall()), ...racing]);
  await expectConverged(world, pair.masterLogin);
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(0n);
  expect(balanceOf(world.platform.ledger, pair.investorLogin)).toBe(530_00n);
  const statuses = await many(world.deps.pool, sql`select status from subscription`);
  expect(statuses).toEqual([{ status: "CANCELLED" }]);
});

type Action = {
  readonly investor: number;
  readonly action: "deposit" | "withdraw" | "assign" | "unassign";
  readonly amount: bigint;
};

const anAction: fc.Arbitrary<Action> = fc.record({
  investor: fc.nat(3),
  action: fc.constantFrom("deposit", "withdraw", "assign", "unassign"),
  amount: fc.bigInt(1n, 300_00n),
});

test("after concurrent commands every balance reconciles to the cent", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anAction, { minLength: 8, maxLength: 24 }), async (actions) => {
      const world = await aWorld();
      await using _service = runningService(world);
      const masterLogin = aMaster(world, 0n);
      const investors = Array.from({ length: 4 }, () => anInvestor(world, 200_00n));
      let key = 0;
      await Promise.allSettled(
        actions.map(async ({ investor, action, amount }) => {
          const investorLogin = investors[investor]!;
          const pair = { masterLogin, investorLogin };
          if (action === "deposit") return await deposit(world, investorLogin, amount);
          if (action === "withdraw") {
            return await withdraw(world, investorLogin, amount, `funding:withdrawal:${(key += 1)}`);
          }
          if (action === "assign") return await world.service.assign(anAssignment(pair), aCall({ withinMs: 2_000 }));
          return await world.service.unassign(pair, aCall({ withinMs: 1_200 }));
        }),
      );
      await expectBooksToReconcile(world);
      await expectConverged(world, masterLogin);
    }),
    { numRuns: 8, endOnFailure: true },
  );
});
