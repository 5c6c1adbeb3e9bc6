import { expect, test } from "vitest";
import { aMark, aPool, after, anEmptyHolding, pooled, holdingOf, struck, withDeposit } from "../../testing/pools.ts";
import { equityOf } from "./equity.ts";
import { strikePool } from "./strike-pool.ts";
import { takeOut } from "./take-out.ts";
import { EMPTY_POOL, PoolBroken } from "./unit-pool.ts";

const [P, Q] = [71n, 72n];
const E8 = 100_000_000n;

test("units for an inflow are rounded down, in favour of the existing holdings", () => {
  const floating = after(aPool(1_000_00n), { kind: "entry", positionId: P });
  const joined = struck(withDeposit(floating, 2n, 550_00n), aMark(P, 1n));
  // 550.00 * 1e11 units / 1000.01 = 54,999,450,005.49
  expect(joined.holdings.map((holding) => holding.units)).toEqual([1_000n * E8, 54_999_450_005n]);
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
