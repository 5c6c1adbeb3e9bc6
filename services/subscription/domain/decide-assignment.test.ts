import { expect, test } from "vitest";
import { usd } from "#kernel/money.ts";
import { type AssignmentFacts, decideAssignment } from "./decide-assignment.ts";

const GOOD: AssignmentFacts = {
  balance: usd(100_00n),
  openPositions: 0,
  minDeposit: usd(100_00n),
  hasFollowedBefore: false,
};

test("a balance of exactly the minimum deposit is accepted", () => {
  expect(() => decideAssignment(GOOD)).not.toThrow();
});

test("a balance of a cent below the minimum deposit is refused with both amounts", () => {
  expect(() => decideAssignment({ ...GOOD, balance: usd(99_99n) })).toThrow(
    expect.objectContaining({
      code: "below_min_deposit",
      status: "conflict",
      outcome: "not_executed",
      details: { required: "100.00", actual: "99.99" },
    }),
  );
});

test("a minimum deposit of 0.00 accepts an empty account, but not a negative balance", () => {
  expect(() => decideAssignment({ ...GOOD, balance: usd(0n), minDeposit: usd(0n) })).not.toThrow();
  expect(() => decideAssignment({ ...GOOD, balance: usd(-1n), minDeposit: usd(0n) })).toThrow(
    expect.objectContaining({ code: "below_min_deposit" }),
  );
});

test("an Investor with open positions is refused", () => {
  expect(() => decideAssignment({ ...GOOD, openPositions: 2 })).toThrow(
    expect.objectContaining({ code: "investor_has_open_positions", details: { open_positions: "2" } }),
  );
});

test("an Investor with an earlier subscription is refused if only one is allowed", () => {
  expect(() => decideAssignment({ ...GOOD, hasFollowedBefore: true })).toThrow(
    expect.objectContaining({ code: "investor_previously_subscribed" }),
  );
});
