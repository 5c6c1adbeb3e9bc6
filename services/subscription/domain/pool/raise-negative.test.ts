import { expect, test } from "vitest";
import { after, aMark, aPool, pooled, struck, withDeposit } from "../../testing/pools.ts";
import { compensate, raiseNegative } from "./raise-negative.ts";
import { takeOut } from "./take-out.ts";
import { OWN_CAPITAL, type UnitPool } from "./unit-pool.ts";

test("a part of what is lacking is divided in proportion, missing cents to the largest fractions", () => {
  const lost = after(aPool(1_000_00n, 1_000_00n, 1_000_00n), { result: -3_300_00n });
  expect(pooled(lost)).toEqual([-100_00n, -100_00n, -100_00n]);
  expect(pooled(raiseNegative(lost, 1_00n).pool)).toEqual([-99_66n, -99_67n, -99_67n]);
  const uneven = after(aPool(600_00n, 300_00n, 100_00n), { result: -1_000_07n });
  expect(pooled(uneven)).toEqual([-4n, -2n, -1n]);
  expect(pooled(raiseNegative(uneven, 3n).pool)).toEqual([-2n, -1n, -1n]);
});

test("own capital that has lost more than it had is raised last", () => {
  const both = struck(withDeposit(aPool(100_00n), OWN_CAPITAL, 100_00n));
  const lost = after(both, { result: -200_03n });
  expect([...pooled(lost), lost.own.pooled]).toEqual([-1n, -2n]);
  const { pool, own, raised } = raiseNegative(lost, 1n);
  expect([...pooled(pool), pool.own.pooled]).toEqual([-1n, -1n]);
  expect([raised, own]).toEqual([[], 1n]);
});

/** Two Investors of 1,000.00, of whom the first has had a fee of 500.00 whose units wait for a price, and a loss of 2,100.00. */
function aLossAfterAnOutflow(): UnitPool {
  const opened = after(aPool(1_000_00n, 1_000_00n), { kind: "entry", positionId: 1n });
  const lost = after(takeOut(opened, 1n, 500_00n), { kind: "charge", result: -2_100_00n });
  expect(pooled(lost)).toEqual([-550_00n, -50_00n]);
  return lost;
}

test("an outflow whose units are not redeemed takes no part of the next compensation or result from the others", () => {
  const lost = aLossAfterAnOutflow();
  const half = raiseNegative(lost, 300_00n);
  expect(pooled(half.pool)).toEqual([-275_00n, -25_00n]);
  expect(pooled(raiseNegative(half.pool, 300_00n).pool)).toEqual([0n, 0n]);
  const whole = raiseNegative(lost, 630_00n);
  expect([pooled(whole.pool), whole.total]).toEqual([[0n, 0n], 600_00n]);
  const shared = struck(after(whole.pool, { kind: "charge", result: 30_00n }), aMark(1n, 0n));
  expect(pooled(after(shared, { kind: "charge", result: 30_00n }))).toEqual([30_00n, 30_00n]);
});

/** Investors of 1,000.00 who have had fees whose units wait for a price, and a loss of 990.00 each: the units are worth 10.00 each. */
function aLossAfterFees(...fees: readonly bigint[]): UnitPool {
  const opened = after(aPool(...fees.map(() => 1_000_00n)), { kind: "entry", positionId: 1n });
  const paid = fees.reduce((pool, fee, index) => takeOut(pool, BigInt(index + 1), fee), opened);
  const lost = after(paid, { kind: "charge", result: BigInt(fees.length) * -990_00n });
  expect(pooled(lost)).toEqual(fees.map((fee) => 10_00n - fee));
  return lost;
}

function unredeemed({ holdings }: UnitPool): bigint[] {
  return holdings.map((holding) => holding.unredeemed);
}

test("two Investors below zero in a pool with a value are raised in proportion to what each lacks", () => {
  const { pool, total } = raiseNegative(aLossAfterFees(30_00n, 60_00n, 0n), 35_00n);
  expect([pooled(pool), unredeemed(pool), total]).toEqual([[-10_00n, -25_00n, 10_00n], [20_00n, 35_00n, 0n], 35_00n]);
});

test("what a compensation has beyond that is a result by units, which still count what has been taken out of each", () => {
  const { pool, total } = raiseNegative(aLossAfterFees(30_00n, 60_00n, 0n), 100_00n);
  expect([pooled(pool), total]).toEqual([[0n, 0n, 10_00n], 70_00n]);
  const shared = after(pool, { kind: "charge", result: 30_00n });
  expect(pooled(shared)).toEqual([10_00n, 10_00n, 20_00n]);
  const redeemed = struck(shared, aMark(1n, 0n));
  expect(pooled(after(redeemed, { positionId: 1n, result: 40_00n }))).toEqual([20_00n, 20_00n, 40_00n]);
});

test("own capital that a dealer has overdrawn is raised as after the strike that takes its units", () => {
  const both = struck(withDeposit(aPool(100_00n), OWN_CAPITAL, 100_00n));
  const overdrawn = takeOut(after(both, { kind: "entry", positionId: 1n }), OWN_CAPITAL, 150_00n);
  for (const pool of [overdrawn, struck(overdrawn, aMark(1n, 0n))]) {
    const { pool: raised, own } = raiseNegative(pool, 20_00n);
    expect([...pooled(raised), raised.own.pooled, raised.own.units, own]).toEqual([100_00n, -30_00n, 0n, 20_00n]);
  }
});

test("own capital pays a compensation, so its own hole is not raised out of it", () => {
  const both = struck(withDeposit(aPool(100_00n), OWN_CAPITAL, 100_00n));
  const lost = withDeposit(after(both, { result: -220_00n }), OWN_CAPITAL, 50_00n);
  expect([pooled(lost), lost.own.pooled, lost.own.waiting]).toEqual([[-10_00n], -10_00n, 50_00n]);
  const { pool, raised, total } = compensate(lost);
  expect([pooled(pool), raised, total]).toEqual([[0n], [{ subscriptionId: 1n, amount: 10_00n }], 10_00n]);
  expect(pool.own).toMatchObject({ pooled: -20_00n, waiting: 50_00n });
});
