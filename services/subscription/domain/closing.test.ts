import { expect, test } from "vitest";
import { blockOf, reasonForAll, stepsLeft } from "./closing.ts";

test("each of the two steps of an Investor lowers what is left", () => {
  const counts = [
    { investors: 2n, exits: 0n },
    { investors: 1n, exits: 1n },
    { investors: 0n, exits: 2n },
    { investors: 0n, exits: 1n },
    { investors: 0n, exits: 0n },
  ];
  expect(counts.map(stepsLeft)).toEqual([4n, 3n, 2n, 1n, 0n]);
});

test("what only takes time is no block", () => {
  expect(["account_busy", "outcome_unknown", "exits_in_progress", null].map(blockOf)).toEqual(Array(4).fill(undefined));
  expect(blockOf("investor_deficit")).toBe("investor_deficit");
  expect(blockOf("no answer")).toBe("unavailable");
});

test("one Investor in deficit delays no other, and open positions delay all", () => {
  expect(reasonForAll([undefined, "investor_deficit", "account_busy"])).toBeUndefined();
  expect(reasonForAll(["account_busy", "master_open_positions"])).toBe("master_open_positions");
});
