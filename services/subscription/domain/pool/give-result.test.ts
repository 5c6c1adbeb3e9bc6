import { expect, test } from "vitest";
import { aPool, after, partsOf, struck, withDeposit } from "../../testing/pools.ts";
import { checkPool } from "./check-pool.ts";
import { giveResult } from "./give-result.ts";
import { takeOut } from "./take-out.ts";
import { OWN_CAPITAL, type UnitPool } from "./unit-pool.ts";

function given(pool: UnitPool, amount: bigint) {
  const result = giveResult(pool, amount);
  if (result === undefined) throw new Error("nothing is shared");
  checkPool(result.pool);
  return result;
}

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
