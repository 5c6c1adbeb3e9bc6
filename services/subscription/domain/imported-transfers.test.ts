import { expect, test } from "vitest";
import { isImported, movedBefore } from "./imported-transfers.ts";

test.each([
  [100n, 100n, 100n],
  [100n, 40n, 40n],
  [100n, 140n, 100n],
  [-100n, -40n, -40n],
  [-100n, -140n, -100n],
  [100n, -40n, 0n],
  [-100n, 40n, 0n],
  [100n, 0n, 0n],
  [0n, 40n, 0n],
  [0n, -40n, 0n],
])("of %s to be moved with %s imported, %s were moved before", (amount, imported, moved) => {
  expect(movedBefore(amount, imported)).toBe(moved);
});

test("only the key of an imported transfer shows that the records of a movement were lost", () => {
  expect(isImported({ key: "imported:7" })).toBe(true);
  expect(isImported({ key: "subscription:mirror:7" })).toBe(false);
  expect(isImported({ key: "" })).toBe(false);
});
