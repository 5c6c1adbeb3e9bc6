import { expect, test } from "vitest";
import { EMPTY_POOL, E8_PER_CENT, type UnitPool, type UnitHolding } from "./pool/unit-pool.ts";
import { takeOutFlat } from "./pool/take-out.ts";

function holding(subscriptionId: bigint, pooled: bigint, more: Partial<UnitHolding> = {}): UnitHolding {
  return { subscriptionId, units: pooled * E8_PER_CENT, pooled, waiting: 0n, unredeemed: 0n, carry: 0n, ...more };
}

const POOL: UnitPool = { ...EMPTY_POOL, holdings: [holding(1n, 100_00n), holding(2n, 300_00n)] };

test("an inflow of another Investor waits for a separate strike", () => {
  const pool = { ...POOL, holdings: [holding(1n, 100_00n), holding(2n, 300_00n, { waiting: 50_00n })] };
  const after = takeOutFlat(pool, [{ subscriptionId: 1n, amount: 100_00n, isLast: false }]);
  expect(after.holdings).toEqual([holding(1n, 0n), holding(2n, 300_00n, { waiting: 50_00n })]);
});

test("Investors who take capital out together get what each would get alone", () => {
  const outflows = [
    { subscriptionId: 1n, amount: 25_00n, isLast: false },
    { subscriptionId: 2n, amount: 300_00n, isLast: true },
  ];
  const after = takeOutFlat(POOL, outflows);
  expect(after.holdings).toEqual([holding(1n, 75_00n)]);
  expect(after).toEqual(outflows.reduce((pool, outflow) => takeOutFlat(pool, [outflow]), POOL));
});
