import { expect, test } from "vitest";
import { aMark, aPool, after, allocated, partsOf, pooled, struck, withDeposit } from "../../testing/pools.ts";
import { checkPool } from "./check-pool.ts";
import { giveResult } from "./give-result.ts";
import { takeOut } from "./take-out.ts";
import { OWN_CAPITAL, type UnitPool } from "./unit-pool.ts";

const P = 71n;
const E8 = 100_000_000n;

function given(pool: UnitPool, amount: bigint) {
  const result = giveResult(pool, amount);
  if (result === undefined) throw new Error("nothing is shared");
  checkPool(result.pool);
  return result;
}

test("own capital that keeps a part shares the result with it, and each goes on with the units of what it has", () => {
  const pool = struck(withDeposit(aPool(1_000_00n), OWN_CAPITAL, 1_500_00n));
  const result = given(pool, 500_00n);
  expect([partsOf(result), result.given, result.poolUnits]).toEqual([[250_00n], 250_00n, 2_000n * E8]);
  // Those 2,000.00 have become 2,500.00.
  expect(result.worth).toEqual({ before: 2_000n * E8, after: 2_500n * E8 });
  const next = struck(result.pool);
  expect([...pooled(next), next.own.pooled]).toEqual([1_250_00n, 1_250_00n]);
  const profit = allocated(next, { result: 300_00n });
  expect([partsOf(profit), profit.own]).toEqual([[150_00n], 150_00n]);
});

test("own capital that gives all it has while positions are open has no part of their later results", () => {
  const open = after(struck(withDeposit(aPool(1_000_00n), OWN_CAPITAL, 500_00n)), { kind: "entry", positionId: P });
  const next = struck(given(open, 500_00n).pool, aMark(P, 0n));
  expect([...pooled(next), next.own.pooled, next.own.units]).toEqual([1_500_00n, 0n, 0n]);
  const profit = allocated(next, { positionId: P, result: 100_00n });
  expect([partsOf(profit), profit.own]).toEqual([[100_00n], 0n]);
});

test("a charge is borne by all, and units are redeemed for it at the value of before", () => {
  const pool = struck(takeOut(aPool(1_000_00n, 3_000_00n), OWN_CAPITAL, 250_00n));
  const result = given(pool, -250_00n);
  expect([partsOf(result), result.given]).toEqual([[-62_50n, -187_50n], -250_00n]);
  const next = struck(result.pool);
  expect([...pooled(next), next.own.pooled]).toEqual([937_50n, 2_812_50n, 0n]);
  expect(next.holdings.map(({ units }) => units)).toEqual([93_750_000_000n, 281_250_000_000n]);
});

test("what a pool of 0.41 is worth has its own carry, and not that of the own capital that gives it 300.03", () => {
  const pool = struck(withDeposit(aPool(4n, 37n), OWN_CAPITAL, 300_00n));
  // Of 0.04 the parts are 0.00000532, 0.00004927 and 0.03994540: own capital got all of it.
  const earned = after(after(pool, { result: 3n }), { result: 1n });
  expect([...earned.holdings, earned.own].map(({ carry }) => carry)).toEqual([532n, 4_927n, -5_459n]);
  const result = given(struck(takeOut(earned, OWN_CAPITAL, 1n)), 300_03n);
  expect([partsOf(result), result.given]).toEqual([[29_27n, 270_76n], 300_03n]);
  expect(result.worth).toEqual({ before: 41_005_459n, after: 30_044_000_000n });
  expect(result.pool.own.carry).toBe(0n);
});

test("nothing is shared while no Investor has units", () => {
  const own = struck(withDeposit(aPool(), OWN_CAPITAL, 80_00n));
  expect(giveResult(own, 50_00n)).toBeUndefined();
});
