import { expect, test } from "vitest";
import { usd } from "#kernel/money.ts";
import { type AssignmentFacts, assignmentReasons, checkAssignment } from "./decide-assignment.ts";

const GOOD: AssignmentFacts = {
  balance: usd(100_00n),
  openPositions: 0,
  minDeposit: usd(100_00n),
  hasFollowedBefore: false,
};

test("a balance of exactly the minimum deposit is accepted", () => {
  expect(() => checkAssignment({ account: GOOD })).not.toThrow();
});

test("a balance of a cent below the minimum deposit is refused with both amounts", () => {
  expect(() => checkAssignment({ account: { ...GOOD, balance: usd(99_99n) } })).toThrow(
    expect.objectContaining({
      code: "below_min_deposit",
      status: "conflict",
      outcome: "not_executed",
      details: { required: "100.00", actual: "99.99" },
    }),
  );
});

test("a minimum deposit of 0.00 accepts an empty account, but not a negative balance", () => {
  expect(() => checkAssignment({ account: { ...GOOD, balance: usd(0n), minDeposit: usd(0n) } })).not.toThrow();
  expect(() => checkAssignment({ account: { ...GOOD, balance: usd(-1n), minDeposit: usd(0n) } })).toThrow(
    expect.objectContaining({ code: "below_min_deposit" }),
  );
});

test("an Investor with open positions is refused", () => {
  expect(() => checkAssignment({ account: { ...GOOD, openPositions: 2 } })).toThrow(
    expect.objectContaining({ code: "investor_has_open_positions", details: { open_positions: "2" } }),
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

test("a subscription that is over blocks nothing, and neither does a pool without a stop", () => {
  expect(assignmentReasons({ open: { ...OPEN, status: "CANCELLED" } })).toEqual([]);
  expect(assignmentReasons({ open: undefined, pool: { masterLogin: "5001", stop: undefined } })).toEqual([]);
});

test("all reasons are found at once, in the sequence in which the command meets them", () => {
  const reasons = assignmentReasons({
    open: { ...OPEN, status: "ACTIVE" },
    pool: { masterLogin: "5002", stop: "deficit" },
    account: { balance: usd(1n), openPositions: 2, minDeposit: usd(100_00n), hasFollowedBefore: true },
  });

  expect(reasons.map(({ code }) => code)).toEqual([
    "already_subscribed",
    "safety_stop",
    "investor_previously_subscribed",
    "investor_has_open_positions",
    "below_min_deposit",
  ]);
});

test("an open Master admits, and each other state refuses with its name", () => {
  expect(assignmentReasons({ admission: { masterLogin: "3000001", state: undefined } })).toEqual([]);
  for (const state of ["not_accepting", "closing", "archived"] as const) {
    expect(() => checkAssignment({ admission: { masterLogin: "3000001", state } })).toThrow(
      expect.objectContaining({ code: "master_not_accepting", outcome: "not_executed", details: { state } }),
    );
  }
});
