import { expect, test } from "vitest";
import { type Deal, DEAL_ENTRY, effectOf, moneyDeal } from "./deal.ts";
import { positionFrom } from "./position.ts";

function aTrade(overrides: Partial<Deal>): Deal {
  const draft = moneyDeal({ login: 7, dealer: 0, action: 0, amount: 0n, comment: "" });
  return { ...draft, ticket: 1, timeMsc: 1, positionId: 5, symbol: "EURUSD", price: 110_000n, ...overrides };
}

test("a position follows from its deals", () => {
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

test("a reversal changes the side of a position under the same number", () => {
  const opening = aTrade({ action: 0, volume: 30n });
  const reversal = aTrade({ entry: DEAL_ENTRY.reversal, action: 1, volume: 50n, volumeClosed: 30n, price: 120_000n });
  expect(positionFrom([opening, reversal])).toMatchObject({ id: 5, side: "sell", volume: 20n, priceOpen: 120_000n });
});

test("credits do not change the balance", () => {
  const effects = [0, 1, 2, 3, 4, 5, 6].map((action) =>
    effectOf(aTrade({ action: action as Deal["action"], profit: 10n, storage: -2n, commission: -1n })),
  );
  expect(effects.map(({ balance }) => balance)).toEqual([7n, 7n, 7n, 0n, 7n, 7n, 0n]);
  expect(effects.map(({ credit }) => credit)).toEqual([0n, 0n, 0n, 7n, 0n, 0n, 7n]);
});
