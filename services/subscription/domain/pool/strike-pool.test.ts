import { expect, test } from "vitest";
import { aMark, aPool, after, anEmptyHolding, pooled, holdingOf, struck, withDeposit } from "../../testing/pools.ts";
import { equityOf } from "./equity.ts";
import { strikePool } from "./strike-pool.ts";
import { takeOut } from "./take-out.ts";
import { EMPTY_POOL, OWN_CAPITAL, PoolBroken, SCALE } from "./unit-pool.ts";

const [P, Q] = [71n, 72n];
const E8 = 100_000_000n;

test("a deposit during a floating profit has no share in that profit", () => {
  const floating = after(aPool(1_000_00n), { kind: "entry", positionId: P });
  const joined = struck(withDeposit(floating, 2n, 550_00n), aMark(P, 450_00n));
  expect([equityOf(joined, 1n), equityOf(joined, 2n)]).toEqual([1_450n * E8, 550n * E8]);
  const closed = after(joined, { positionId: P, result: 1_450_00n });
  expect(pooled(closed)).toEqual([2_175_00n, 825_00n]);
});

test("cash may be negative while equity is not", () => {
  const two = after(after(aPool(1_000_00n), { kind: "entry", positionId: P }), { kind: "entry", positionId: Q });
  const joined = struck(withDeposit(two, 2n, 550_00n), aMark(P, 0n), aMark(Q, -450_00n));
  const lost = after(joined, { positionId: P, result: -1_200_00n });
  expect(pooled(lost)).toEqual([400_00n, -50_00n]);
  const marked = struck(lost, aMark(Q, 750_00n));
  expect([equityOf(marked, 1n), equityOf(marked, 2n)]).toEqual([550n * E8, 550n * E8]);
  expect(pooled(after(lost, { positionId: Q, result: 750_00n }))).toEqual([550_00n, 550_00n]);
  expect(pooled(after(marked, { positionId: Q, result: 750_00n }))).toEqual([550_00n, 550_00n]);
});

test("a first strike issues a unit per 1e-8 USD", () => {
  expect(aPool(1_000_00n, 0n).holdings.map((holding) => holding.units)).toEqual([1_000n * E8, 0n]);
});

test("all flows of one strike have the same unit price", () => {
  const floating = after(aPool(1_000_00n, 1_000_00n), { kind: "entry", positionId: P });
  const waiting = withDeposit(takeOut(floating, 1n, 500_00n), 3n, 1_500_00n);
  const shared = struck(waiting, aMark(P, 1_000_00n));
  expect([1n, 2n, 3n].map((id) => equityOf(shared, id))).toEqual([1_000n * E8, 1_500n * E8, 1_500n * E8]);
  const [one, two, three] = shared.holdings.map((holding) => holding.units);
  expect([one, two, three]).toEqual([66_666_666_666n, 1_000n * E8, 1_000n * E8]);
});

test("units for an inflow are rounded down, in favour of the existing holdings", () => {
  const floating = after(aPool(1_000_00n), { kind: "entry", positionId: P });
  const joined = struck(withDeposit(floating, 2n, 550_00n), aMark(P, 1n));
  // 550.00 * 1e11 units / 1000.01 = 54,999,450,005.49
  expect(joined.holdings.map((holding) => holding.units)).toEqual([1_000n * E8, 54_999_450_005n]);
});

test("the result of a position that was open before any holding had units goes to own capital, which shares with it from then on", () => {
  const first = struck(withDeposit(EMPTY_POOL, 1n, 100_00n), aMark(P, 30_00n));
  expect(equityOf(first, 1n)).toBe(100n * E8);
  expect(first.accruals).toEqual([
    { positionId: P, subscriptionId: 1n, basis: 0n, perUnit: 30n * E8 * SCALE },
    { positionId: P, subscriptionId: OWN_CAPITAL, basis: 30n * E8 * SCALE, perUnit: 30n * E8 * SCALE },
  ]);
  const closed = after(first, { positionId: P, result: 50_00n });
  expect([pooled(closed), closed.own]).toEqual([
    [115_38n],
    { ...EMPTY_POOL.own, units: 30n * E8, pooled: 34_62n, carry: -461_538n },
  ]);
});

test("while the value of the pool is not positive and positions are open, no flow is struck", () => {
  const lost = takeOut(after(aPool(100_00n, 100_00n), { kind: "entry", positionId: P }), 1n, 10_00n);
  const waits = struck(withDeposit(lost, 2n, 50_00n), aMark(P, -200_00n));
  expect(waits.holdings.map(({ pooled, waiting, unredeemed }) => [pooled, waiting, unredeemed])).toEqual([
    [90_00n, 0n, 10_00n],
    [100_00n, 50_00n, 0n],
  ]);
  const recovered = struck(waits, aMark(P, -100_00n));
  expect([equityOf(recovered, 1n), equityOf(recovered, 2n)]).toEqual([40n * E8, 100n * E8]);
  expect(recovered.holdings.map((holding) => holding.units)).toEqual([80n * E8, 200n * E8]);
});

test("a pool that has lost everything issues new units once it is flat", () => {
  const open = after(aPool(100_00n, 50_00n), { kind: "entry", positionId: P });
  const lost = after(open, { positionId: P, result: -180_00n });
  const renewed = struck(withDeposit(lost, 2n, 40_00n));
  expect(pooled(renewed)).toEqual([-20_00n, 30_00n]);
  expect(renewed.holdings.map((holding) => holding.units)).toEqual([0n, 30n * E8]);
});

test("the last units of a pool with open positions stay until it is flat", () => {
  const open = after(aPool(100_00n), { kind: "entry", positionId: P });
  const kept = struck(takeOut(open, 1n, 100_00n), aMark(P, 0n));
  expect(kept.holdings).toEqual([{ ...anEmptyHolding(1n), units: 100n * E8, unredeemed: 100_00n }]);
  const closed = struck(after(kept, { positionId: P, result: 7_00n }));
  expect(closed.holdings).toEqual([{ ...anEmptyHolding(1n), units: closed.holdings[0]!.units, pooled: 7_00n }]);
  expect(closed.holdings[0]!.units > 0n).toBe(true);
});

test("when a unit is worth far more or less than 1e-8 USD all units are reissued, and no equity changes", () => {
  const open = after(aPool(100_00n, 300_00n), { kind: "entry", positionId: P });
  const thin = struck(open, aMark(P, -396_00n));
  expect(thin.holdings.map((holding) => holding.units)).toEqual([1n * E8, 3n * E8]);
  expect([equityOf(thin, 1n), equityOf(thin, 2n)]).toEqual([1n * E8, 3n * E8]);
  const back = struck(thin, aMark(P, 0n));
  expect([equityOf(back, 1n), equityOf(back, 2n)]).toEqual([100n * E8, 300n * E8]);
});

test("unredeemed amounts get new units when units are reissued", () => {
  const open = after(aPool(100_00n), { kind: "entry", positionId: P });
  const kept = struck(takeOut(open, 1n, 100_00n), aMark(P, -99_00n));
  expect(kept.holdings).toEqual([{ ...anEmptyHolding(1n), units: 1n * E8, unredeemed: 100_00n }]);
});

test("a holding without units gets units for its whole equity with its next deposit", () => {
  const holdings = [
    ...aPool(100_00n).holdings,
    { ...anEmptyHolding(2n), pooled: 5_00n },
    { ...anEmptyHolding(3n), pooled: -5_00n },
  ];
  const joined = struck(withDeposit(withDeposit({ ...EMPTY_POOL, holdings }, 2n, 10_00n), 3n, 4_00n));
  expect([2n, 3n].map((id) => holdingOf(joined, id).units)).toEqual([15n * E8, 0n]);
});

test("the order in which the platform lists positions does not matter", () => {
  const two = after(after(aPool(100_00n), { kind: "entry", positionId: Q }), { kind: "entry", positionId: P });
  const waiting = withDeposit(two, 2n, 10_00n);
  expect(strikePool(waiting, [aMark(P, 1n), aMark(Q, -2n)])).toEqual(
    strikePool(waiting, [aMark(Q, -2n), aMark(P, 1n)]),
  );
});

test("a position that disappeared without a deal stops the pool only if it has an attributed result", () => {
  const open = after(aPool(100_00n), { kind: "entry", positionId: P });
  expect(struck(open).positions).toEqual([]);
  expect(() => strikePool(struck(open, aMark(P, 1n)), [])).toThrow(PoolBroken);
});

test("a strike without a flow leaves a pool in deficit its units: the next result is shared by them", () => {
  const lost = after(aPool(1_000_00n, 500_00n), { kind: "charge", result: -1_800_00n });
  const looked = struck(lost);
  expect(looked.holdings.map(({ units }) => units)).toEqual(lost.holdings.map(({ units }) => units));
  expect(pooled(after(looked, { kind: "charge", result: 90_00n }))).toEqual([-140_00n, -70_00n]);
});
