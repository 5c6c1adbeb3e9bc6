import fc from "fast-check";
import { expect, test } from "vitest";
import { after, aPool, pooled, withDeposit } from "../../testing/pools.ts";
import { sumOf } from "./rounding.ts";
import { compensate } from "./raise-negative.ts";

test("holdings below zero are raised to 0.00 without units, and the others do not change", () => {
  const joined = withDeposit(after(aPool(100_00n, 100_00n), { result: -150_00n }), 3n, 40_00n);
  const gap = after(after(joined, { result: -30_00n }), { result: -40_00n });
  expect(pooled(gap)).toEqual([-10_00n, -10_00n, 0n]);
  const { pool, raised, total } = compensate(gap);
  expect(pooled(pool)).toEqual([0n, 0n, 0n]);
  expect(pool.holdings.map(({ units, waiting }) => [units, waiting])).toEqual([
    [0n, 0n],
    [0n, 0n],
    [0n, 40_00n],
  ]);
  expect(raised).toEqual([
    { subscriptionId: 1n, amount: 10_00n },
    { subscriptionId: 2n, amount: 10_00n },
  ]);
  expect(total).toBe(20_00n);
});

test("after a loss of any size the pool gains exactly the compensation", () => {
  const amounts = fc.array(fc.bigInt(1n, 1_000_00n), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(amounts, fc.bigInt(-9_000_00n, 0n), (deposits, result) => {
      const pool = after(aPool(...deposits), { result });
      const { pool: raisedPool, total } = compensate(pool);
      expect(sumOf(pooled(raisedPool))).toBe(sumOf(pooled(pool)) + total);
      expect(pooled(raisedPool).every((amount) => amount >= 0n)).toBe(true);
      expect(compensate(raisedPool)).toMatchObject({ raised: [], total: 0n });
    }),
  );
});

test("a deficit is not compensated while positions are open", () => {
  const pool = after(aPool(100_00n), { kind: "entry", positionId: 7n });
  expect(() => compensate(pool)).toThrow("while positions are open");
});
