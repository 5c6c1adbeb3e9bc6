import { expect, test } from "vitest";
import { usd } from "#kernel/money.ts";
import { type AssignmentFacts, checkAssignment } from "./decide-assignment.ts";

const GOOD: AssignmentFacts = {
  balance: usd(100_00n),
  openPositions: 0,
  minDeposit: usd(100_00n),
  hasFollowedBefore: false,
};

test("a balance of exactly the minimum deposit is accepted", () => {
  expect(() => checkAssignment({ account: GOOD })).not.toThrow();
});

test("a minimum deposit of 0.00 accepts an empty account, but not a negative balance", () => {
  expect(() => checkAssignment({ account: { ...GOOD, balance: usd(0n), minDeposit: usd(0n) } })).not.toThrow();
  expect(() => checkAssignment({ account: { ...GOOD, balance: usd(-1n), minDeposit: usd(0n) } })).toThrow(
    expect.objectContaining({ code: "below_min_deposit" }),
  );
});

const OPEN = { id: 4n, masterLogin: "5001", investorLogin: "9001" };

test.each([
  ["ACTIVE", "already_subscribed"],
  ["PAUSED", "exit_in_progress"],
  ["ASSIGNING", "account_busy"],
] as const)("another subscription that is %s is reported as %s", (status, code) => {
  expect(() => checkAssignment({ open: { ...OPEN, status } })).toThrow(
    expect.objectContaining({ code, outcome: "not_executed" }),
  );
});
