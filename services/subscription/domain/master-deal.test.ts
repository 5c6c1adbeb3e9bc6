import { expect, test } from "vitest";
import { isCancelled, isResult, poolDealOf, realisedFloating } from "./master-deal.ts";
import { aDeal } from "../testing/deals.ts";

test.each([
  ["a buy that opens", { action: 0, entry: 0 }, "entry"],
  ["a sell that closes", { action: 1, entry: 1 }, "exit"],
  ["a reversal", { action: 0, entry: 2 }, "reversal"],
  ["a close by an opposite position", { action: 1, entry: 3 }, "exit"],
  ["a daily commission", { action: 8, entry: 0 }, "charge"],
  ["a dividend", { action: 15, entry: 0 }, "charge"],
  ["interest with an unknown entry code", { action: 12, entry: 9 }, "charge"],
] as const)("%s", (_what, facts, kind) => {
  expect(poolDealOf(aDeal(facts)).kind).toBe(kind);
});

test("a deal has a result if it changes the balance or reduces a position", () => {
  expect(isResult(aDeal({ entry: 0 }))).toBe(false);
  expect(isResult(aDeal({ entry: 0, commission: -1n }))).toBe(true);
  expect(isResult(aDeal({ entry: 1 }))).toBe(true);
  expect(isResult(aDeal({ entry: 2 }))).toBe(true);
  expect(isResult(aDeal({ action: 8 }))).toBe(false);
});

test("the whole balance change of a deal is its result, but only profit and swap were floating", () => {
  const deal = aDeal({ profit: 100n, swap: -7n, commission: -4n });
  expect(poolDealOf(deal).result).toBe(89n);
  expect(realisedFloating(deal)).toBe(93n);
});

test("cancelled buy and sell deals are recognised", () => {
  expect([12, 13, 14, 15].map((action) => isCancelled(aDeal({ action })))).toEqual([false, true, true, false]);
});
