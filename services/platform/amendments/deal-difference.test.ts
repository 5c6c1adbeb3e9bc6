import { expect, test } from "vitest";
import { zero } from "#kernel/money.ts";
import { type LoggedDeal, loggedDeal } from "../domain/logged-deal.ts";
import type { Deal } from "../mt5/deals.ts";
import { dealDifference } from "./deal-difference.ts";

const DEAL_KEY = { login: "1001", ticket: 7n };
const AT = new Date("2026-11-22T10:00:00Z");

function shown(own: Partial<Deal> = {}): Deal {
  const money = { profitMinor: 5_00n, swapMinor: 0n, commissionMinor: 0n, feeMinor: 0n };
  const names = { symbol: "", price: "0", comment: "", dealer: "" };
  const numbers = { action: 2, entry: 0, order: 0n, position: 0n, volume: 0n, volumeClosed: 0n };
  return { ...DEAL_KEY, ...money, ...names, ...numbers, serverTimeMs: AT.getTime(), at: AT, ...own };
}

function recorded(own: Partial<LoggedDeal> = {}): LoggedDeal {
  const untouched = { serverMsc: BigInt(AT.getTime()), trade: undefined, state: 0, correctedTo: undefined };
  return { ...DEAL_KEY, kind: "deposit", amountMinor: 5_00n, at: AT, ...untouched, ...own };
}

test("a deleted deal is corrected by its whole amount, and a changed amount by the difference", () => {
  expect(dealDifference(DEAL_KEY, recorded(), undefined)).toMatchObject({ amountMinor: -5_00n, becomes: "deal_gone" });
  const less = dealDifference(DEAL_KEY, recorded(), shown({ profitMinor: 3_00n }));
  expect(less).toMatchObject({ amountMinor: -2_00n, becomes: "deal_changed", isNone: false });
  expect(dealDifference(DEAL_KEY, recorded(), shown())).toMatchObject({ amountMinor: 0n, isNone: true });
});

test("a ticket that moved to another login is a deleted deal of the first login and an unrecorded deal of the other", () => {
  const onOtherLogin = shown({ login: "1002" });
  expect(dealDifference(DEAL_KEY, recorded(), onOtherLogin)).toMatchObject({
    amountMinor: -5_00n,
    becomes: "deal_gone",
  });
  const unrecorded = dealDifference({ ...DEAL_KEY, login: "1002" }, undefined, onOtherLogin);
  expect(unrecorded).toMatchObject({ amountMinor: 5_00n, becomes: "deal_changed", isNone: false });
});

test("a cancelled trade is corrected to zero; an unrecorded one needs no correction", () => {
  const trade = { action: 0, entry: 1, positionId: 9n, symbol: "EURUSD", volume: 10n, volumeClosed: 10n };
  const none = zero();
  const asRecorded = recorded({
    kind: "trade",
    trade: { ...trade, profit: none, swap: none, commission: none, fee: none },
  });
  const cancelled = shown({ action: 14, position: 9n, profitMinor: 0n });
  expect(dealDifference(DEAL_KEY, asRecorded, cancelled)).toMatchObject({
    becomes: "deal_cancelled",
    isNone: false,
    shown: undefined,
  });
  expect(dealDifference(DEAL_KEY, undefined, cancelled).isNone).toBe(true);
  const corrected = loggedDeal([
    asRecorded,
    recorded({ amountMinor: -5_00n, state: 1, correctedTo: "deal_cancelled" }),
  ]);
  expect(corrected).toMatchObject({ kind: "trade", amountMinor: 0n, trade: undefined, state: 1 });
  expect(dealDifference(DEAL_KEY, corrected, cancelled).isNone).toBe(true);
});

test("a deal that was corrected as deleted needs no correction until it is shown again", () => {
  const gone = loggedDeal([
    recorded(),
    recorded({ amountMinor: -5_00n, state: 1, correctedTo: "deal_gone", serverMsc: undefined }),
  ]);
  expect(dealDifference(DEAL_KEY, gone, undefined).isNone).toBe(true);
  expect(dealDifference(DEAL_KEY, gone, shown())).toMatchObject({
    amountMinor: 5_00n,
    becomes: "deal_changed",
    isNone: false,
  });
  const back = loggedDeal([gone!, recorded({ state: 2, correctedTo: "deal_changed" })]);
  expect(back?.amountMinor).toBe(5_00n);
  expect(dealDifference(DEAL_KEY, back, shown()).isNone).toBe(true);
});

test("a deal that was corrected to a credit changes no balance and needs no correction", () => {
  const credit = shown({ action: 3 });
  const corrected = loggedDeal([recorded(), recorded({ amountMinor: -5_00n, state: 1, correctedTo: "deal_changed" })]);
  expect(dealDifference(DEAL_KEY, recorded(), credit)).toMatchObject({ amountMinor: -5_00n, isNone: false });
  expect(dealDifference(DEAL_KEY, corrected, credit).isNone).toBe(true);
});
