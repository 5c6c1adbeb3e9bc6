import { expect, test } from "vitest";
import type { Mark } from "./pool/strike-pool.ts";
import { EMPTY_POOL, type UnitPool } from "./pool/unit-pool.ts";
import { aDeal } from "../testing/deals.ts";
import { floatingBefore } from "./holding-value.ts";

function poolWith(...ids: bigint[]): UnitPool {
  const rest = { symbol: "EURUSD", volume: 100n, mark: 0n, perUnit: 0n, valued: 0n };
  return { ...EMPTY_POOL, positions: ids.map((positionId) => ({ positionId, ...rest })) };
}

function mark(positionId: bigint, floating: bigint): Mark {
  return { positionId, symbol: "EURUSD", volume: 100n, floating };
}

test("a position that is still open counts with its mark", () => {
  expect(floatingBefore(poolWith(7n), [mark(7n, -40n)], [])).toEqual(new Map([[7n, -40n]]));
});

test("a position that was closed after the cut-off, fully or partially, counts with its realised result", () => {
  const deals = [aDeal({ profit: 30n, swap: -5n, commission: -9n }), aDeal({ positionId: 8n, profit: 11n })];
  expect(floatingBefore(poolWith(7n, 8n), [mark(8n, 4n)], deals)).toEqual(
    new Map([
      [7n, 25n],
      [8n, 15n],
    ]),
  );
});

test("a position that was opened after the cut-off, also by a reversal, is not counted", () => {
  const deals = [aDeal({ entry: 2, profit: -20n }), aDeal({ profit: 999n }), aDeal({ positionId: 9n, profit: 5n })];
  expect(floatingBefore(poolWith(7n), [mark(7n, 500n), mark(9n, 3n)], deals)).toEqual(new Map([[7n, -20n]]));
});
