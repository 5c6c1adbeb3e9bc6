import { hash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Deal } from "../mt5/deals.ts";
import { MAX_SEEN, SeenDeals } from "./seen-deals.ts";

function aDeal(own: Partial<Deal> = {}): Deal {
  return {
    ticket: 1n,
    login: "7",
    action: 2,
    entry: 0,
    order: 0n,
    position: 0n,
    symbol: "",
    volume: 0n,
    volumeClosed: 0n,
    price: "0",
    profitMinor: 5_00n,
    swapMinor: 0n,
    commissionMinor: 0n,
    feeMinor: 0n,
    comment: "",
    dealer: "",
    serverTimeMs: 1_000,
    at: new Date(1_000),
    ...own,
  };
}

test("a deal is looked up until it is recorded, and again when its content changes", () => {
  const seen = new SeenDeals();
  const deal = aDeal();
  expect(seen.noteShown([deal])).toEqual([deal]);
  expect(seen.noteShown([deal])).toEqual([deal]);
  seen.noteRecorded([deal]);
  expect(seen.noteShown([deal, aDeal({ comment: "explained" })])).toEqual([]);
  for (const changed of [
    aDeal({ profitMinor: 6_00n }),
    aDeal({ swapMinor: 1n }),
    aDeal({ commissionMinor: 1n }),
    aDeal({ feeMinor: 1n }),
    aDeal({ action: 13 }),
    aDeal({ entry: 1 }),
    aDeal({ position: 9n }),
    aDeal({ symbol: "EURUSD" }),
    aDeal({ volume: 9n }),
    aDeal({ volumeClosed: 9n }),
    aDeal({ serverTimeMs: 2_000 }),
    aDeal({ login: "8" }),
    aDeal({ ticket: 2n }),
  ]) {
    expect(seen.noteShown([changed])).toEqual([changed]);
    seen.noteShown([deal]);
    seen.noteRecorded([deal]);
  }
});

test("a deal that changed while it was looked up is not taken for recorded", () => {
  const seen = new SeenDeals();
  seen.noteShown([aDeal()]);
  seen.noteShown([aDeal({ profitMinor: 6_00n })]);
  seen.noteRecorded([aDeal()]);
  expect(seen.noteShown([aDeal({ profitMinor: 6_00n })])).toHaveLength(1);
});

test("a row is recalled from when its deal is recorded until the deal changes or is forgotten", () => {
  const seen = new SeenDeals();
  const [a, b] = ["a", "b"].map((text) => hash("sha256", text, "base64")) as [string, string];
  const deal = { ...aDeal(), mark: a };
  seen.noteShown([deal]);
  expect(seen.recall(a)).toBeUndefined();
  seen.noteRecorded([deal]);
  expect(seen.recall(a)).toMatchObject({ ticket: 1n, login: "7" });
  expect(seen.recall(b)).toBeUndefined();
  // The deal in another row, such as one with another comment, is looked up once more.
  const inOtherRow = { ...deal, comment: "explained", mark: b };
  expect(seen.noteShown([inOtherRow])).toEqual([inOtherRow]);
  expect([seen.recall(a), seen.recall(b)]).toEqual([undefined, undefined]);
  seen.noteRecorded([inOtherRow]);
  expect([seen.recall(a), seen.recall(b)]).toMatchObject([undefined, { ticket: 1n }]);
  seen.noteShown([aDeal({ profitMinor: 6_00n })]);
  expect(seen.recall(b)).toBeUndefined();

  for (const forget of [() => seen.forget(deal), () => seen.forgetBefore(1_001)]) {
    seen.noteShown([deal]);
    seen.noteRecorded([deal]);
    forget();
    expect(seen.recall(a)).toBeUndefined();
  }
});

test("a recalled deal counts as shown", () => {
  const seen = new SeenDeals();
  seen.noteShown([aDeal()]);
  const sinceMs = performance.now() + 1;
  while (performance.now() < sinceMs);
  expect(seen.isShownSince(aDeal(), sinceMs)).toBe(false);
  seen.noteShownAgain([aDeal()]);
  expect(seen.isShownSince(aDeal(), sinceMs)).toBe(true);
});

test("a forgotten deal is looked up again", () => {
  const seen = new SeenDeals();
  for (const forget of [() => seen.forget(aDeal()), () => seen.forgetBefore(1_001)]) {
    seen.noteShown([aDeal()]);
    seen.noteRecorded([aDeal()]);
    forget();
    expect(seen.has(aDeal())).toBe(false);
    expect(seen.noteShown([aDeal()])).toHaveLength(1);
  }
});

test("the memory is bounded: the deals that were seen first are forgotten", () => {
  const seen = new SeenDeals();
  const deals = Array.from({ length: MAX_SEEN + 1 }, (_, index) => aDeal({ ticket: BigInt(index + 1) }));
  seen.noteShown(deals);
  seen.noteRecorded(deals);
  expect(seen.noteShown(deals.slice(0, 10)).length).toBeGreaterThan(0);
  expect(seen.noteShown(deals.slice(-10))).toEqual([]);
  // However often the others are shown, they replace no remembered one.
  seen.noteShown(Array.from({ length: 1_000 }, (_, index) => aDeal({ ticket: BigInt(1_000_000 + index) })));
  expect(seen.noteShown(deals.slice(-10))).toEqual([]);
  expect(seen.noteShown(deals.slice(1, 10))).toEqual([]);
});

test("deals of a period that were not shown since an instant are listed", async () => {
  const seen = new SeenDeals();
  const deals = [1n, 2n, 3n, 4n].map((ticket) => aDeal({ ticket, at: new Date(Number(ticket) * 1_000) }));
  seen.noteShown(deals);
  seen.noteRecorded(deals.slice(1));
  await pause(2);
  const sinceMs = performance.now();
  seen.noteShown([deals[2]!]);

  expect(seen.listUnshown({ fromMs: 0, toMs: 4_000, sinceMs })).toEqual([
    { login: "7", ticket: 1n, at: new Date(1_000), isRecorded: false },
    { login: "7", ticket: 2n, at: new Date(2_000), isRecorded: true },
  ]);
  expect(seen.listUnshown({ fromMs: 0, toMs: 9_000, sinceMs }).map(({ ticket }) => ticket)).toEqual([1n, 2n, 4n]);
  expect(seen.listUnshown({ fromMs: 3_000, toMs: 4_000, sinceMs })).toEqual([]);
});
