import { expect, test } from "vitest";
import { legNumber } from "./leg-number.ts";
import { executedBefore } from "./lost-movement.ts";
import { platformComment } from "./reference.ts";

const REQUESTED = { kind: "deposit" as const, amountMinor: 10_00n, comment: "Invoice 4711 of März" };
const REFERENCE = { kind: "deposit", number: legNumber(77n), attempt: 1 } as const;
const LOST = { ...REQUESTED, login: "101", dealId: 5n, comment: platformComment(REFERENCE, REQUESTED.comment) };

test("a request repeats a lost movement of its account with the same amount and comment, as far as the platform keeps it", () => {
  expect(executedBefore(REQUESTED, [{ ...LOST, dealId: 4n, amountMinor: 11_00n }, LOST])).toBe(LOST);
  expect(executedBefore({ ...REQUESTED, comment: "Invoice 4711 of March, second part" }, [LOST])).toBe(LOST);
});

test.each([
  ["kind", { kind: "mirror" as const }],
  ["amount", { amountMinor: 10_01n }],
  ["sign", { amountMinor: -10_00n }],
  ["comment", { comment: "Invoice 4712" }],
])("a request with another %s does not", (_, other) => {
  expect(executedBefore({ ...REQUESTED, ...other }, [LOST])).toBeUndefined();
});

test("a request without a comment repeats every lost movement of its amount, because the broker may have added the text", () => {
  const lost = { ...LOST, comment: platformComment(REFERENCE, "") };
  const extended = { ...lost, comment: `${lost.comment} [web]` };
  for (const each of [lost, extended, LOST]) expect(executedBefore({ ...REQUESTED, comment: "" }, [each])).toBe(each);
});

test("a comment of which the platform kept nothing is equal to every one", () => {
  const lost = { ...LOST, comment: platformComment(REFERENCE, "") };
  expect(executedBefore({ ...REQUESTED, comment: "another" }, [lost])).toBe(lost);
});

const LONG = { ...REQUESTED, comment: "INV-4711-MARCH-2" };
const KEPT = platformComment(REFERENCE, LONG.comment);

test.each([
  ["cut", KEPT.slice(0, 24)],
  ["cut at a space", `${KEPT.slice(0, 18)} `],
  ["cut after the reference", KEPT.slice(0, 14)],
  ["extended", `${KEPT} [web]`],
])("a comment that the broker has %s is compared as far as it was kept", (_, comment) => {
  expect(executedBefore(LONG, [{ ...LOST, comment }])).toBeDefined();
});
