import { expect, test } from "vitest";
import { aMark, anEmptyHolding, aPool, after, struck, withDeposit } from "../../testing/pools.ts";
import { leaveUnits, takeOut, takeOutFlat } from "./take-out.ts";
import { PoolBroken } from "./unit-pool.ts";

const P = 71n;
const CENT = 1_000_000n;

test("a negative outflow and an outflow without a holding are rejected", () => {
  expect(() => takeOut(aPool(100_00n), 1n, -1n)).toThrow(PoolBroken);
  expect(() => takeOut(aPool(100_00n), 2n, 1n)).toThrow(PoolBroken);
});

test("a holding with remaining money stays, without units", () => {
  const left = leaveUnits(withDeposit(takeOut(aPool(100_00n), 1n, 40_00n), 1n, 7n), 1n);
  expect(left.holdings).toEqual([{ ...anEmptyHolding(1n), pooled: 60_00n, waiting: 7n }]);
});

test("a carry goes to the holding with most units, the first of equals, or to own capital", () => {
  const holdings = aPool(100_00n, 300_00n, 300_00n).holdings;
  const [one, two, three] = [holdings[0]!, holdings[1]!, holdings[2]!];
  const carries = {
    ...aPool(),
    holdings: [
      { ...one, pooled: 0n, carry: 5n },
      { ...two, carry: 2n },
      { ...three, pooled: 0n, carry: -7n },
    ],
  };
  const first = leaveUnits(carries, 1n);
  expect(first.holdings.map((holding) => holding.carry)).toEqual([7n, -7n]);
  const second = leaveUnits({ ...first, holdings: [{ ...first.holdings[0]!, pooled: 0n }, first.holdings[1]!] }, 2n);
  expect(second.holdings.map((holding) => holding.carry)).toEqual([0n]);
  const alone = { ...carries, holdings: [{ ...one, pooled: 0n, carry: 5n }], own: { ...carries.own, carry: -5n } };
  expect(leaveUnits(alone, 1n)).toEqual(aPool());
});

test("an Investor cannot leave while a position is open", () => {
  const open = struck(after(aPool(100_00n), { kind: "entry", positionId: P }), aMark(P, 0n));
  expect(() => leaveUnits(open, 1n)).toThrow(PoolBroken);
});

test("an inflow of another Investor waits for a separate strike", () => {
  const [one, two] = aPool(100_00n, 300_00n).holdings;
  const waiting = { ...two!, waiting: 50_00n };
  const pool = { ...aPool(), holdings: [one!, waiting] };
  const { holdings } = takeOutFlat(pool, [{ subscriptionId: 1n, amount: 100_00n, isLast: false }]);
  expect(holdings).toEqual([anEmptyHolding(1n), waiting]);
});

test("Investors who take capital out together get what each would get alone", () => {
  const outflows = [
    { subscriptionId: 1n, amount: 25_00n, isLast: false },
    { subscriptionId: 2n, amount: 300_00n, isLast: true },
  ];
  const pool = aPool(100_00n, 300_00n);
  const taken = takeOutFlat(pool, outflows);
  expect(taken.holdings).toEqual([{ ...anEmptyHolding(1n), units: 75_00n * CENT, pooled: 75_00n }]);
  expect(taken).toEqual(outflows.reduce((left, outflow) => takeOutFlat(left, [outflow]), pool));
});
