import { expect, test, vi } from "vitest";
import { sized } from "#test/support/proof.ts";
import { WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import { subscriptionService } from "../service.ts";
import { anOperation, crashAtEveryPoint, CRASH_TEST_MS, endOf, recover, times } from "./crash-at-every-point.ts";
import { deposit, requestWithdrawal, withdraw } from "./funding.ts";
import { inBucket } from "./ledger.ts";
import { deliver, runJobs, settle, subscribedAll } from "./settle.ts";
import { trader } from "./trader.ts";
import { aMaster, aWorld, type World } from "./world.ts";

vi.setConfig({ testTimeout: CRASH_TEST_MS });

/** Masters that have lost 130.00 of the 100.00 of their Investor, who has deposited 50.00 since. */
async function deficits(world: World, count: number) {
  const pairs = await subscribedAll(
    world,
    times(count, () => ({ masterLogin: aMaster(world, 0n), balance: 100_00n })),
  );
  for (const { masterLogin } of pairs) trader(world, masterLogin).result(-130_00n);
  await settle(world);
  for (const { investorLogin } of pairs) await deposit(world, investorLogin, 50_00n);
  await settle(world);
  return pairs;
}

test("a compensation of the platform that crashes at any point raises each Investor once, and what has waited is mirrored once", async () => {
  const world = await aWorld();
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) => {
      const pairs = await deficits(world, count);
      for (const { masterLogin } of pairs) trader(world, masterLogin).compensate(30_00n);
      return pairs;
    },
    run: async (deps) => {
      const crashingWorld = { ...world, deps, state: { ...world.state } };
      for (let runs = 0; runs < 3; runs += 1) {
        await deliver(crashingWorld);
        await runJobs(deps);
      }
    },
    stride: sized({ test: 11, proof: 1 }),
  });
  for (const { masterLogin, investorLogin } of cases) {
    expect(await inBucket(world, masterLogin, "pooled")).toEqual([50_00n]);
    expect(balanceOf(world.platform.ledger, masterLogin)).toBe(50_00n);
    expect(balanceOf(world.platform.ledger, investorLogin)).toBe(50_00n);
  }
});

test("a withdrawal of what waits for the end of a deficit that crashes at any point is decided and paid once", async () => {
  const world = await aWorld();
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) => {
      const pairs = await deficits(world, count);
      return pairs.map((pair) => ({ ...pair, operation: anOperation() }));
    },
    run: (deps, { investorLogin, operation }) =>
      requestWithdrawal({ service: subscriptionService(deps), deps }, investorLogin, 20_00n, operation),
    stride: sized({ test: 3, proof: 1 }),
  });
  const ends = new Set<string>();
  for (const { masterLogin, investorLogin, operation } of cases) {
    const end = await endOf(world, operation.operationId);
    ends.add(end);
    const answer = await requestWithdrawal(world, investorLogin, 20_00n, operation);
    if (end === "REFUSED") {
      expect(answer.state).toBe(WithdrawalState.REFUSED);
      await withdraw(world, investorLogin, 20_00n, `after ${operation.operationId}`);
    } else {
      expect(answer).toMatchObject({ figures: { effective: { minorUnits: 20_00n } }, inPool: false });
      expect(await requestWithdrawal(world, investorLogin, 20_00n, operation)).toEqual(answer);
    }
    trader(world, masterLogin).compensate(30_00n);
  }
  expect(ends).toEqual(new Set(["nothing", "REFUSED", "ENDED 2000"]));
  await recover(world);
  for (const { masterLogin, investorLogin } of cases) {
    expect(await inBucket(world, masterLogin, "pooled")).toEqual([30_00n]);
    expect(balanceOf(world.platform.ledger, investorLogin)).toBe(30_00n);
  }
});
