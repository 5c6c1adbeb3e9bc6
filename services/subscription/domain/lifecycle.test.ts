import { expect, test } from "vitest";
import { isInPool, MOVES, OPEN_STATUSES, type SubscriptionStatus, VISIBLE_STATUSES } from "./lifecycle.ts";

const MADE = Object.values(MOVES);

test("what has ended stays ended, and what is open can end", () => {
  const isOpen = (status: SubscriptionStatus) => OPEN_STATUSES.some((open) => open === status);
  for (const { from } of MADE) expect(isOpen(from)).toBe(true);
  for (const status of OPEN_STATUSES) expect(MADE.some(({ from }) => from === status)).toBe(true);
});

test("nobody ever comes back into the pool, and nobody leaves it but by way of PAUSED", () => {
  expect(MADE.filter(({ to }) => isInPool(to))).toEqual([{ from: "ASSIGNING", to: "ACTIVE" }]);
  expect(MADE.filter(({ from }) => isInPool(from))).toEqual([{ from: "ACTIVE", to: "PAUSED" }]);
});

test("what was never active is never shown", () => {
  expect(VISIBLE_STATUSES).toEqual(["ACTIVE", "PAUSED", "CANCELLED"]);
  expect(MOVES.refused).toEqual({ from: "ASSIGNING", to: "ABORTED" });
});
