import { expect, test } from "vitest";
import { legNumber } from "./leg-number.ts";
import { executedBefore } from "./lost-movement.ts";
import { platformComment } from "./reference.ts";

const REQUESTED = { login: "101", amountMinor: 10_00n, comment: "Invoice 4711 of März" };
const REFERENCE = { kind: "deposit", number: legNumber(77n), attempt: 1 } as const;
const LOST = { ...REQUESTED, dealId: 5n, comment: platformComment(REFERENCE, REQUESTED.comment) };

test("a request repeats a lost movement of its account with the same amount and comment, as far as the platform keeps it", () => {
  expect(executedBefore(REQUESTED, [{ ...LOST, dealId: 4n, amountMinor: 11_00n }, LOST])).toBe(LOST);
  expect(executedBefore({ ...REQUESTED, comment: "Invoice 4711 of March, second part" }, [LOST])).toBe(LOST);
});

test.each([
  ["account", { login: "102" }],
  ["amount", { amountMinor: 10_01n }],
  ["sign", { amountMinor: -10_00n }],
  ["comment", { comment: "Invoice 4712" }],
  ["empty comment", { comment: "" }],
])("a request with another %s does not", (_, other) => {
  expect(executedBefore({ ...REQUESTED, ...other }, [LOST])).toBeUndefined();
});

test("requests without a comment are compared as well", () => {
  const lost = { ...LOST, comment: platformComment(REFERENCE, "") };
  expect(executedBefore({ ...REQUESTED, comment: "" }, [lost])).toBe(lost);
});
