import { expect, test } from "vitest";
import { MAX_AMOUNT } from "#kernel/values/money.ts";
import { isImported, movedBefore } from "./imported-transfers.ts";

const MAX = MAX_AMOUNT.minor;

test.each([
  [[100n], 100n, 100n],
  [[100n], 40n, 40n],
  [[100n], 140n, 100n],
  [[60n, 40n], 140n, 100n],
  [[-100n], -40n, -40n],
  [[-100n], -140n, -100n],
  [[100n], -40n, 0n],
  [[-100n], 40n, 0n],
  [[100n], 0n, 0n],
  [[], 40n, 0n],
  [[], -40n, 0n],
  [[100n, -100n], 100n, 100n],
  [[100n, -100n], 40n, 40n],
  [[-100n, 70n], 100n, 70n],
  [[100n, -70n], -100n, -70n],
  // The rest of the net, the opposite flow, has to fit into one transfer.
  [[MAX, -MAX, 1n, -2n], MAX + 1n, MAX - 1n],
  [[-MAX, MAX, -1n, 2n], -MAX - 1n, 1n - MAX],
])("of flows of %s with %s imported, %s were moved before", (amounts, imported, moved) => {
  const flows = amounts.map((amount) => ({ amount }));
  expect(movedBefore(flows, imported)).toBe(moved);
});

test("only the key of an imported transfer shows that the records of a movement were lost", () => {
  expect(isImported({ key: "imported:7" })).toBe(true);
  expect(isImported({ key: "subscription:mirror:7" })).toBe(false);
  expect(isImported({ key: "" })).toBe(false);
});
