import { expect, test } from "vitest";
import { HOUR_MS } from "#kernel/duration.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, aWorld, passTime } from "../testing/world.ts";

test("what fee has not answered for is listed as it was sent, page by page", async () => {
  const world = await aWorld({ week: { anchor: new Date(Date.now() + HOUR_MS / 2), periodMs: HOUR_MS } });
  const { service, deps, fees } = world;
  fees.rules.ratePpm = 300_000;
  const masterLogin = aMaster(world, 0n);
  await subscribed(world, masterLogin, 1_000_00n);
  const pageAfter = (afterId: bigint) => service.listUnrecordedFees({ afterId }, aCall());
  for (const minutes of [36, 60]) {
    trader(world, masterLogin).result(100_00n);
    await settle(world);
    await passTime(world, minutes * 60_000);
    await settle(world);
  }
  expect(fees.weeks.map(({ investors }) => investors.length)).toEqual([1, 1]);
  expect(await pageAfter(0n)).toEqual({ decisions: [], nextAfterId: 0n });

  await corrupt(deps.pool, "update fee_decision set recorded_at = null");
  const both = await pageAfter(0n);
  expect(both.decisions).toEqual(fees.weeks);
  expect(await pageAfter(both.nextAfterId)).toEqual({ decisions: [], nextAfterId: 0n });

  // A page has no more than a message can have.
  await corrupt(
    deps.pool,
    `update due_fee set explanation = jsonb_set(explanation, '{earned}', to_jsonb(repeat('x', 300000)))`,
  );
  const first = await pageAfter(0n);
  expect(first.decisions).toHaveLength(1);
  expect((await pageAfter(first.nextAfterId)).decisions).toHaveLength(1);
});

test("the sums of flows name the last deal up to an entry", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, masterLogin, 1_000_00n);
  const { dealId, dealAt } = trader(world, masterLogin).result(10_00n);
  trader(world, masterLogin).result(20_00n);
  await settle(world);
  const sums = (throughNumber: bigint) =>
    world.service.sumFlows(
      { investorLogin, masterLogin, after: undefined, through: undefined, throughNumber },
      aCall(),
    );
  expect(await sums(0n)).toMatchObject({
    inflow: { minorUnits: 1_000_00n },
    throughDealId: 0n,
    throughDealAt: undefined,
  });
  expect(await sums(1n)).toMatchObject({ throughDealId: dealId, throughDealAt: dealAt, complete: true });
});
