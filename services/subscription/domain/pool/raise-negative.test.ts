import fc from "fast-check";
import { expect, test } from "vitest";
import { aDeal, after, aMark, aPool, pooled, struck, withDeposit } from "../../testing/pools.ts";
import { allocateDeal } from "./allocate-deal.ts";
import { checkPool } from "./check-pool.ts";
import { raiseNegative } from "./raise-negative.ts";
import { sumOf } from "./rounding.ts";
import { OWN_CAPITAL } from "./unit-pool.ts";

test("two Investors of 1,000.00 after a loss of 2,500.00 lack 250.00 each, and 500.00 raise both to 0.00", () => {
  const lost = after(aPool(1_000_00n, 1_000_00n), { result: -2_500_00n });
  expect(pooled(lost)).toEqual([-250_00n, -250_00n]);
  const { pool, raised, total } = raiseNegative(lost, 500_00n);
  expect(pooled(pool)).toEqual([0n, 0n]);
  expect(raised.map(({ amount }) => amount)).toEqual([250_00n, 250_00n]);
  expect(total).toBe(500_00n);
});

test("a part of what is lacking is divided in proportion, missing cents to the largest fractions", () => {
  const lost = after(aPool(1_000_00n, 1_000_00n, 1_000_00n), { result: -3_300_00n });
  expect(pooled(lost)).toEqual([-100_00n, -100_00n, -100_00n]);
  expect(pooled(raiseNegative(lost, 1_00n).pool)).toEqual([-99_66n, -99_67n, -99_67n]);
  const uneven = after(aPool(600_00n, 300_00n, 100_00n), { result: -1_000_07n });
  expect(pooled(uneven)).toEqual([-4n, -2n, -1n]);
  expect(pooled(raiseNegative(uneven, 3n).pool)).toEqual([-2n, -1n, -1n]);
});

test("what is more than lacking is left, and a pool that lacks nothing gets nothing", () => {
  const lost = after(aPool(100_00n), { result: -130_00n });
  expect(raiseNegative(lost, 50_00n)).toMatchObject({ total: 30_00n });
  expect(raiseNegative(aPool(100_00n), 50_00n)).toMatchObject({ raised: [], own: 0n, total: 0n });
});

test("own capital that has lost more than it had is raised last", () => {
  const both = struck(withDeposit(aPool(100_00n), OWN_CAPITAL, 100_00n));
  const lost = after(both, { result: -200_03n });
  expect([...pooled(lost), lost.own.pooled]).toEqual([-1n, -2n]);
  const { pool, own, raised } = raiseNegative(lost, 1n);
  expect([...pooled(pool), pool.own.pooled]).toEqual([-1n, -1n]);
  expect([raised, own]).toEqual([[], 1n]);
});

test("cash below zero that a floating result covers lacks nothing, and what it does not cover does", () => {
  const opened = after(aPool(1_000_00n), { kind: "entry", positionId: 1n });
  const joined = struck(withDeposit(opened, 2n, 550_00n), aMark(1n, -450_00n));
  const covered = struck(after(joined, { kind: "charge", result: -1_200_00n }), aMark(1n, 750_00n));
  expect(pooled(covered)).toEqual([400_00n, -50_00n]);
  expect(raiseNegative(covered, 100_00n)).toMatchObject({ raised: [], total: 0n });
  const uncovered = struck(after(covered, { kind: "charge", result: -1_140_00n }), aMark(1n, 750_00n));
  expect(pooled(uncovered)).toEqual([-170_00n, -620_00n]);
  expect(raiseNegative(uncovered, 100_00n)).toMatchObject({
    raised: [
      { subscriptionId: 1n, amount: 20_00n },
      { subscriptionId: 2n, amount: 20_00n },
    ],
  });
});

test("after any loss no holding is raised above zero, and the rest of the money is a result", () => {
  const amounts = fc.array(fc.bigInt(1n, 1_000_00n), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(amounts, fc.bigInt(-9_000_00n, 0n), fc.bigInt(1n, 9_000_00n), (deposits, result, amount) => {
      const lost = after(aPool(...deposits), { result });
      const { pool, raised, total } = raiseNegative(lost, amount);
      expect(sumOf(pooled(pool))).toBe(sumOf(pooled(lost)) + total);
      expect(sumOf(raised.map((part) => part.amount))).toBe(total);
      for (const [index, before] of pooled(lost).entries()) {
        const now = pooled(pool)[index] ?? 0n;
        expect(before >= 0n ? now === before : now >= before && now <= 0n).toBe(true);
      }
      const shared = allocateDeal(pool, aDeal({ kind: "charge", result: amount - total }));
      checkPool(shared.pool);
      expect(sumOf(pooled(shared.pool)) + shared.pool.own.pooled).toBe(sumOf(pooled(lost)) + lost.own.pooled + amount);
    }),
  );
});
