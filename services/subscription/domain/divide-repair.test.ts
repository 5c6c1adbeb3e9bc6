import fc from "fast-check";
import { expect, test } from "vitest";
import { aMark, after, allocated, aPool, struck, withDeposit } from "../testing/pools.ts";
import { type AllocatedResult, divideRepair } from "./divide-repair.ts";
import type { Allocation } from "./pool/allocate-deal.ts";
import { sumOf } from "./pool/rounding.ts";

/** As the entry of the allocation has it. */
function recorded({ pool, parts, own }: Allocation, result: bigint): AllocatedResult {
  const units = new Map(pool.holdings.map((holding) => [holding.subscriptionId, holding.units]));
  const rows = parts.map((part) => ({ ...part, units: units.get(part.subscriptionId) ?? 0n }));
  return { result, own, ownUnits: own === 0n ? 0n : pool.own.units, rows };
}

function partsOf(entry: AllocatedResult, amount: bigint): bigint[] {
  const { parts, own } = divideRepair(entry, amount);
  return [...parts.map((part) => part.amount), own];
}

test("what a close has released is not corrected: only the result at the wrong price is", () => {
  const floated = struck(after(aPool(1_000_00n), { kind: "entry", positionId: 1n }), aMark(1n, 450_00n));
  const pool = struck(withDeposit(floated, 2n, 1_450_00n), aMark(1n, 450_00n));
  // Closed at -1,000.00 instead of 0.00: the first has its 450.00, and -1,450.00 are shared.
  const tick = allocated(pool, { kind: "exit", positionId: 1n, result: -1_000_00n });
  expect(tick.parts.map(({ amount }) => amount)).toEqual([-275_00n, -725_00n]);
  expect(partsOf(recorded(tick, -1_000_00n), 1_000_00n)).toEqual([500_00n, 500_00n, 0n]);
});

test("the parts of any repair sum to it", () => {
  const capital = fc.array(fc.bigInt(1n, 1_000_00n), { minLength: 1, maxLength: 6 });
  const amounts = fc.bigInt(-9_000_00n, 9_000_00n).filter((amount) => amount !== 0n);
  fc.assert(
    fc.property(capital, amounts, amounts, (deposits, result, amount) => {
      const entry = recorded(allocated(aPool(...deposits), { result }), result);
      expect(sumOf(partsOf(entry, amount))).toBe(amount);
      expect(partsOf(entry, -result)).toEqual([...entry.rows.map((row) => -row.amount), -entry.own]);
    }),
  );
});
