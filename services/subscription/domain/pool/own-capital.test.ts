import { expect, test } from "vitest";
import { anEmptyHolding, aPool, after, allocated, partsOf, struck, withDeposit } from "../../testing/pools.ts";
import { strikeFlatPool } from "./strike-pool.ts";
import { takeOut } from "./take-out.ts";
import { EMPTY_POOL, OWN_CAPITAL, type UnitPool } from "./unit-pool.ts";

const E8 = 100_000_000n;

/** A registered Master with this balance, and one Investor. */
function registered(own: bigint, investor: bigint): UnitPool {
  return struck(withDeposit(struck(withDeposit(EMPTY_POOL, OWN_CAPITAL, own)), 1n, investor));
}

test("whole units decide who gets the cent of remainders that would be equal", () => {
  const pool = after(aPool(1_500_00n), { result: 1_049_81n });
  const joined = struck(withDeposit(pool, OWN_CAPITAL, 10_01n));
  // 10.01 at 2,549.81 for 150,000,000,000 units is 588,867,405.8 units.
  expect(joined.own.units).toBe(588_867_405n);
  // One and a half times of all: 15.01499998 of own capital, which lacks a part of a unit, and 3,824.71500002.
  const lost = allocated(joined, { result: -3_839_73n });
  expect([partsOf(lost), lost.own]).toEqual([[-3_824_72n], -15_01n]);
  expect([lost.pool.holdings[0]!.carry, lost.pool.own.carry]).toEqual([499_998n, -499_998n]);
});

test("a flat pool strikes only the admitted part of a dealer's withdrawals, the other part still counts", () => {
  const taken = takeOut(registered(1_000_00n, 1_000_00n), OWN_CAPITAL, 900_00n);
  const part = strikeFlatPool(taken, { ownOutflow: 500_00n });
  expect(part.own).toEqual({
    ...anEmptyHolding(OWN_CAPITAL),
    units: 500n * E8,
    pooled: 100_00n,
    unredeemed: 400_00n,
  });
  expect(partsOf(allocated(part, { result: 30_00n }))).toEqual([20_00n]);
  expect(strikeFlatPool(taken).own).toEqual(taken.own);
});
