import { expect, test } from "vitest";
import { isInPool, MOVES, OPEN_STATUSES, type SubscriptionStatus, VISIBLE_STATUSES } from "./lifecycle.ts";

const TRANSITIONS = Object.values(MOVES);

test("every open status has a transition, and a final status has none", () => {
  const isOpen = (status: SubscriptionStatus) => OPEN_STATUSES.some((open) => open === status);
  for (const { from } of TRANSITIONS) expect(isOpen(from)).toBe(true);
  for (const status of OPEN_STATUSES) expect(TRANSITIONS.some(({ from }) => from === status)).toBe(true);
});

test("a subscription enters the pool once, from ASSIGNING, and leaves it to PAUSED", () => {
  expect(TRANSITIONS.filter(({ to }) => isInPool(to))).toEqual([{ from: "ASSIGNING", to: "ACTIVE" }]);
  expect(TRANSITIONS.filter(({ from }) => isInPool(from))).toEqual([{ from: "ACTIVE", to: "PAUSED" }]);
});

test("a subscription that was never ACTIVE is not visible", () => {
  expect(VISIBLE_STATUSES).toEqual(["ACTIVE", "PAUSED", "CANCELLED"]);
  expect(MOVES.refused).toEqual({ from: "ASSIGNING", to: "ABORTED" });
});
