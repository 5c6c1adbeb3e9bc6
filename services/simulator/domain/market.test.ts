import fc from "fast-check";
import { expect, test } from "vitest";
import { EURUSD, marginOf, profitOf } from "./market.ts";
import { LOT } from "./units.ts";

test("one lot of EURUSD earns one dollar per point of 10^-5", () => {
  expect(profitOf(EURUSD, { side: "buy", volume: LOT, from: 110_000n, to: 110_001n })).toBe(100n);
  expect(profitOf(EURUSD, { side: "sell", volume: LOT, from: 110_000n, to: 110_001n })).toBe(-100n);
  expect(profitOf(EURUSD, { side: "buy", volume: LOT / 100n, from: 110_000n, to: 109_950n })).toBe(-50n);
});

test("a sell earns what the same buy loses, to the cent", () => {
  const price = fc.bigInt({ min: 1n, max: 999_999n });
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 100n * LOT }), price, price, (volume, from, to) => {
      const buy = profitOf(EURUSD, { side: "buy", volume, from, to });
      expect(profitOf(EURUSD, { side: "sell", volume, from, to })).toBe(-buy);
    }),
  );
});

test("margin is lots x contract x price / leverage", () => {
  expect(marginOf(EURUSD, LOT, 110_000n, 100)).toBe(1_100_00n);
  expect(marginOf(EURUSD, LOT / 2n, 123_456n, 500)).toBe(123_46n);
});
