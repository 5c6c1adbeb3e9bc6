import { expect, test } from "vitest";
import type { Trade } from "./log-entry.ts";
import { applyTrades } from "./open-positions.ts";

function aTrade(own: Partial<Trade>): Trade {
  const money = { profitMinor: 0n, swapMinor: 0n, commissionMinor: 0n, feeMinor: 0n };
  return { action: 0, entry: 0, positionId: 7n, symbol: "EURUSD", volume: 0n, volumeClosed: 0n, ...money, ...own };
}

test("a position grows with entries, shrinks with exits and is closed at zero", () => {
  const trades = [
    aTrade({ entry: 0, volume: 10n }),
    aTrade({ entry: 0, volume: 5n }),
    aTrade({ entry: 1, volume: 3n, volumeClosed: 3n }),
  ];

  expect(applyTrades([], trades)).toEqual([{ positionId: 7n, symbol: "EURUSD", volume: 12n }]);
  const rest = aTrade({ entry: 1, volume: 12n, volumeClosed: 12n });
  expect(applyTrades([], [...trades, rest])).toEqual([{ positionId: 7n, symbol: "EURUSD", volume: 0n }]);
});

test("a position that was open before is updated, and unchanged positions are left out", () => {
  const open = [
    { positionId: 7n, symbol: "EURUSD", volume: 10n },
    { positionId: 8n, symbol: "EURUSD", volume: 10n },
  ];

  const changed = applyTrades(open, [aTrade({ entry: 3, volume: 4n, volumeClosed: 4n })]);

  expect(changed).toEqual([{ positionId: 7n, symbol: "EURUSD", volume: 6n }]);
});

test("a reversal closes what was open and opens the rest the other way", () => {
  const open = [{ positionId: 7n, symbol: "EURUSD", volume: 10n }];

  const changed = applyTrades(open, [aTrade({ entry: 2, action: 1, volume: 15n, volumeClosed: 10n })]);

  expect(changed).toEqual([{ positionId: 7n, symbol: "EURUSD", volume: 5n }]);
});

test("charges and dividends change no position", () => {
  expect(applyTrades([], [aTrade({ action: 7, volume: 3n }), aTrade({ positionId: 0n, volume: 3n })])).toEqual([]);
});

test("closing more than was open leaves a negative volume", () => {
  const changed = applyTrades([], [aTrade({ entry: 1, volume: 2n, volumeClosed: 2n })]);

  expect(changed).toEqual([{ positionId: 7n, symbol: "EURUSD", volume: -2n }]);
});
