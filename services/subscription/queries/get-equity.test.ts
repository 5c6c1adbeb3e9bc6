import { expect, test } from "vitest";
import type { FindTermsRequest } from "#proto/pamm/fee/v1/fee.ts";
import { subscriptionService } from "../service.ts";
import { OWED_TO } from "../testing/fee-fake.ts";
import { settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, anInvestor, aWorld, type World } from "../testing/world.ts";

async function feesOf({ service }: World, investorLogin: string) {
  const { pendingFee, feeWhenFlat, debt, markE8 } = await service.getEquity({ investorLogin }, aCall());
  return [pendingFee?.minorUnits, feeWhenFlat?.minorUnits, debt?.minorUnits, markE8];
}

/** A pool that has earned 1000.00, at 30 %. */
async function aPool() {
  const world = await aWorld();
  world.fees.rules.ratePpm = 300_000;
  const masterLogin = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, masterLogin, 10_000_00n);
  trader(world, masterLogin).result(1_000_00n);
  await settle(world);
  return { world, investorLogin, trades: trader(world, masterLogin) };
}

test("the fee when flat is the one that is due once what floats is a result, and an open profit alone raises none", async () => {
  for (const [floating, due] of [
    [50_00n, 315_00n],
    [-50_00n, 285_00n],
    [-2_000_00n, 0n],
  ] as const) {
    const { world, investorLogin, trades } = await aPool();
    const position = trades.open();
    trades.float(position, floating);
    await settle(world);
    expect(await feesOf(world, investorLogin)).toEqual([due < 300_00n ? due : 300_00n, due, 0n, 0n]);

    trades.close(position, { profit: floating });
    await settle(world);
    expect(await feesOf(world, investorLogin)).toEqual([due, due, 0n, 0n]);
  }
});

test("what floats is a result in whole cents, rounded half up", async () => {
  const world = await aWorld();
  world.fees.rules.ratePpm = 1_000_000;
  const masterLogin = aMaster(world, 0n);
  const first = await subscribed(world, masterLogin, 100_00n);
  const second = await subscribed(world, masterLogin, 100_00n);
  const trades = trader(world, masterLogin);
  trades.float(trades.open(), 1n);
  await settle(world);
  expect([await feesOf(world, first.investorLogin), await feesOf(world, second.investorLogin)]).toEqual([
    [0n, 1n, 0n, 0n],
    [0n, 1n, 0n, 0n],
  ]);
});

test("debts are part of the pending fee, in a pool and outside, and what was paid in advance is not", async () => {
  const { world, investorLogin } = await aPool();
  world.fees.rules.debt = () => 7_00n;
  expect(await feesOf(world, investorLogin)).toEqual([307_00n, 307_00n, 7_00n, 0n]);
  expect(await feesOf(world, anInvestor(world, 0n))).toEqual([7_00n, 7_00n, 7_00n, 0n]);

  const findTerms = async (request: FindTermsRequest) => {
    const terms = await world.deps.fees.findTerms(request, aCall());
    const prepaid = [{ masterLogin: OWED_TO, amountMinor: 5_00n, since: undefined }];
    return { ...terms, investors: terms.investors.map((investor) => ({ ...investor, prepaid })) };
  };
  const service = subscriptionService({ ...world.deps, fees: { ...world.deps.fees, findTerms } });
  expect(await feesOf({ ...world, service }, investorLogin)).toEqual([302_00n, 302_00n, 7_00n, 0n]);
});

test("nothing is shown while the fees of the Master are stopped, or fee does not answer", async () => {
  const { world, investorLogin } = await aPool();
  world.fees.rules.isStopped = true;
  await expect(feesOf(world, investorLogin)).rejects.toMatchObject({ code: "safety_stop" });
  world.fees.rules.isDown = true;
  await expect(feesOf(world, investorLogin)).rejects.toMatchObject({ code: "service_unavailable" });
});
