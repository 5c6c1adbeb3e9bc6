import { expect, test } from "vitest";
import {
  aMark,
  anEmptyHolding,
  aPool,
  after,
  allocated,
  partsOf,
  pooled,
  struck,
  withDeposit,
} from "../../testing/pools.ts";
import { equityOf, poolEquity } from "./equity.ts";
import { strikeFlatPool } from "./strike-pool.ts";
import { takeOut } from "./take-out.ts";
import { EMPTY_POOL, OWN_CAPITAL, type UnitPool } from "./unit-pool.ts";
import { compensate } from "./raise-negative.ts";

const P = 71n;
const E8 = 100_000_000n;

/** A registered Master with this balance, and one Investor. */
function registered(own: bigint, investor: bigint): UnitPool {
  return struck(withDeposit(struck(withDeposit(EMPTY_POOL, OWN_CAPITAL, own)), 1n, investor));
}

test("an Investor of 1,000.00 beside 5,000.00 of own capital gets a sixth of a profit and of a loss", () => {
  const pool = registered(5_000_00n, 1_000_00n);
  const profit = allocated(pool, { result: 600_00n });
  expect([profit.own, partsOf(profit)]).toEqual([500_00n, [100_00n]]);
  const loss = allocated(pool, { result: -1_500_00n });
  expect([loss.own, partsOf(loss)]).toEqual([-1_250_00n, [-250_00n]]);
});

test("a dealer's deposit during a floating profit has no share in that profit", () => {
  const floating = after(aPool(1_000_00n), { kind: "entry", positionId: P });
  const joined = struck(withDeposit(floating, OWN_CAPITAL, 1_000_00n), aMark(P, 100_00n));
  expect([equityOf(joined, 1n), equityOf(joined, OWN_CAPITAL)]).toEqual([1_100n * E8, 1_000n * E8]);
  // 1,000.00 at 1.10 per unit.
  expect(joined.own.units).toBe(90_909_090_909n);
  const closed = after(joined, { positionId: P, result: 200_00n });
  expect([...pooled(closed), closed.own.pooled]).toEqual([1_152_38n, 1_047_62n]);
});

test("open positions at registration belong to own capital, and the first Investor has no share in them", () => {
  const first = struck(withDeposit(withDeposit(EMPTY_POOL, OWN_CAPITAL, 5_000_00n), 1n, 1_000_00n), aMark(P, 600_00n));
  expect([equityOf(first, OWN_CAPITAL), equityOf(first, 1n)]).toEqual([5_600n * E8, 1_000n * E8]);
  const closed = after(first, { positionId: P, result: 1_260_00n });
  expect([...pooled(closed), closed.own.pooled]).toEqual([1_100_00n, 6_160_00n]);
});

test("a dealer's withdrawal redeems units at the value of a unit, and no equity of an Investor changes", () => {
  const open = after(registered(1_000_00n, 1_000_00n), { kind: "entry", positionId: P });
  const taken = struck(takeOut(open, OWN_CAPITAL, 550_00n), aMark(P, 200_00n));
  expect(taken.own.units).toBe(500n * E8);
  expect([equityOf(taken, 1n), equityOf(taken, OWN_CAPITAL)]).toEqual([1_100n * E8, 550n * E8]);
});

test("a dealer who takes more than there is leaves a negative balance that does not change results of Investors", () => {
  const pool = registered(1_000_00n, 1_000_00n);
  const hole = struck(takeOut(pool, OWN_CAPITAL, 1_500_00n));
  expect(hole.own).toEqual({ ...anEmptyHolding(OWN_CAPITAL), pooled: -500_00n });
  expect([poolEquity(hole), partsOf(allocated(hole, { result: 30_00n }))]).toEqual([1_000n * E8, [30_00n]]);
  const back = struck(withDeposit(hole, OWN_CAPITAL, 700_00n));
  expect(back.own).toEqual({ ...anEmptyHolding(OWN_CAPITAL), units: 200n * E8, pooled: 200_00n });
});

test("cash below zero that a floating result covers keeps the units that the withdrawal leaves", () => {
  const open = after(registered(1_000_00n, 1_000_00n), { kind: "entry", positionId: P });
  const covered = struck(takeOut(open, OWN_CAPITAL, 1_200_00n), aMark(P, 1_000_00n));
  expect([covered.own.pooled, covered.own.units]).toEqual([-200_00n, 200n * E8]);
  const closed = after(covered, { positionId: P, result: 1_000_00n });
  expect([...pooled(closed), closed.own.pooled]).toEqual([1_500_00n, 300_00n]);
});

test("a pool below zero is in deficit by its losses, not by what a dealer took", () => {
  const lost = after(registered(1_000_00n, 1_000_00n), { result: -2_100_00n });
  expect([...pooled(lost), lost.own.pooled]).toEqual([-50_00n, -50_00n]);
  expect(poolEquity(lost)).toBe(-50n * E8);
  const taken = takeOut(registered(200_00n, 1_000_00n), OWN_CAPITAL, 5_000_00n);
  expect(poolEquity(taken)).toBe(1_000n * E8);
});

test("of equal remainders own capital gets the last", () => {
  expect(allocated(registered(1_000_00n, 1_000_00n), { result: 1n })).toMatchObject({
    own: 0n,
    parts: [{ subscriptionId: 1n, amount: 1n }],
  });
});

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

test("a compensation redeems units of own capital", () => {
  const lost = after(aPool(100_00n), { result: -120_00n });
  const deposited = struck(withDeposit(lost, OWN_CAPITAL, 50_00n));
  const { pool, total } = compensate(deposited);
  expect([pooled(pool), total]).toEqual([[0n], 20_00n]);
  expect(pool.own).toEqual({ ...anEmptyHolding(OWN_CAPITAL), units: 30n * E8, pooled: 30_00n });
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
