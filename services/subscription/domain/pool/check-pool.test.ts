import { expect, test } from "vitest";
import { aMark, aPool, after, struck, withDeposit } from "../../testing/pools.ts";
import { checkCarries, checkPool } from "./check-pool.ts";
import { PoolBroken, SCALE, type UnitPool } from "./unit-pool.ts";

const P = 71n;

function marked(): UnitPool {
  const open = after(aPool(100_00n), { kind: "entry", positionId: P });
  return struck(withDeposit(open, 2n, 50_00n), aMark(P, 30_00n));
}

test("a mark equals the attributed result to less than 1e-8 USD", () => {
  const [position] = marked().positions;
  const off = (by: bigint): UnitPool => ({ ...marked(), positions: [{ ...position!, mark: position!.mark + by }] });
  checkPool(off(SCALE - 1n));
  checkPool(off(1n - SCALE));
  expect(() => checkPool(off(SCALE))).toThrow(PoolBroken);
  expect(() => checkPool(off(-SCALE))).toThrow(PoolBroken);
});

test("carries sum to 0, including that of own capital", () => {
  const [holding] = aPool(1_00n).holdings;
  const carrying = { ...aPool(1_00n), holdings: [{ ...holding!, carry: 3n }] };
  expect(() => checkPool(carrying)).toThrow(PoolBroken);
  checkPool({ ...carrying, own: { ...carrying.own, carry: -3n } });
});

test("a carry of a cent or more is rejected", () => {
  const [holding] = aPool(1_00n).holdings;
  const carrying = (carry: bigint): UnitPool => ({ ...aPool(), holdings: [{ ...holding!, carry }] });
  checkCarries(carrying(999_999n));
  checkCarries(carrying(-999_999n));
  expect(() => checkCarries(carrying(1_000_000n))).toThrow(PoolBroken);
  expect(() => checkCarries(carrying(-1_000_000n))).toThrow(PoolBroken);
  expect(() => checkCarries({ ...aPool(), own: { ...aPool().own, carry: 1_000_000n } })).toThrow(PoolBroken);
});

test("an accrual without its position or holding is rejected", () => {
  expect(() => checkPool({ ...marked(), positions: [] })).toThrow(PoolBroken);
  expect(() => checkPool({ ...marked(), holdings: marked().holdings.slice(0, 1) })).toThrow(PoolBroken);
});

test("unsorted holdings and negative units, waiting or unredeemed amounts are rejected", () => {
  const { holdings } = aPool(1_00n, 1_00n);
  expect(() => checkPool({ ...aPool(), holdings: holdings.toReversed() })).toThrow(PoolBroken);
  for (const wrong of [{ units: -1n }, { waiting: -1n }, { unredeemed: -1n }]) {
    expect(() => checkPool({ ...aPool(), holdings: [{ ...holdings[0]!, ...wrong }] })).toThrow(PoolBroken);
  }
});
