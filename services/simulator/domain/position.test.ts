import { expect, test } from "vitest";
import { type Deal, DEAL_ENTRY, effectOf, moneyDeal } from "./deal.ts";
import { positionFrom } from "./position.ts";

function aTrade(overrides: Partial<Deal>): Deal {
  const draft = moneyDeal({ login: 7, dealer: 0, action: 0, amount: 0n, comment: "" });
  return { ...draft, ticket: 1, timeMsc: 1, positionId: 5, symbol: "EURUSD", price: 110_000n, ...overrides };
}

test("a position is what its deals leave of it", () => {
  const opening = aTrade({ action: 1, volume: 30n });
  const exit = (volume: bigint, timeMsc: number) => aTrade({ entry: DEAL_ENTRY.out, action: 0, volume, timeMsc });
  expect(positionFrom([])).toBeUndefined();
  expect(positionFrom([opening, exit(10n, 2), exit(5n, 3)])).toEqual({
    id: 5,
    login: 7,
    symbol: "EURUSD",
    side: "sell",
    volume: 15n,
    priceOpen: 110_000n,
    createdMsc: 1,
    updatedMsc: 3,
  });
  expect(positionFrom([opening, exit(30n, 2)])).toBeUndefined();
});

test("credit is the one action that leaves the balance alone", () => {
  const effects = [0, 1, 2, 3, 4, 5, 6].map((action) =>
    effectOf(aTrade({ action: action as Deal["action"], profit: 10n, storage: -2n, commission: -1n })),
  );
  expect(effects.map(({ balance }) => balance)).toEqual([7n, 7n, 7n, 0n, 7n, 7n, 7n]);
  expect(effects.map(({ credit }) => credit)).toEqual([0n, 0n, 0n, 7n, 0n, 0n, 0n]);
});
