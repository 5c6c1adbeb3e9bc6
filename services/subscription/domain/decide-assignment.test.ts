import { expect, test } from "vitest";
import { usd } from "#kernel/values/money.ts";
import { accountReasons, type AssignmentFacts, blockedBy, notAccepting } from "./decide-assignment.ts";

const GOOD: AssignmentFacts = {
  balance: usd(100_00n),
  openPositions: 0,
  minDeposit: usd(100_00n),
  hasFollowedBefore: false,
};

test("a balance of exactly the minimum deposit is accepted, also of 0.00", () => {
  expect(accountReasons(GOOD)).toEqual([]);
  expect(accountReasons({ ...GOOD, balance: usd(0n), minDeposit: usd(0n) })).toEqual([]);
});

test("a balance of a cent below the minimum deposit is refused with both amounts", () => {
  expect(accountReasons({ ...GOOD, balance: usd(99_99n) })).toMatchObject([
    {
      code: "below_min_deposit",
      status: "conflict",
      outcome: "not_executed",
      details: { required: "100.00", actual: "99.99" },
    },
  ]);
  expect(accountReasons({ ...GOOD, balance: usd(-1n), minDeposit: usd(0n) })).toMatchObject([
    { code: "below_min_deposit" },
  ]);
});

test("all reasons of an account are found at once, first the one that is hardest to cure", () => {
  const facts = { balance: usd(1n), openPositions: 2, minDeposit: usd(100_00n), hasFollowedBefore: true };
  expect(accountReasons(facts)).toMatchObject([
    { code: "investor_previously_subscribed" },
    { code: "investor_has_open_positions", details: { open_positions: "2" } },
    { code: "below_min_deposit" },
  ]);
});

test.each([
  ["ACTIVE", { code: "already_subscribed", outcome: "not_executed" }],
  ["PAUSED", { code: "exit_in_progress", outcome: "not_executed" }],
  ["ASSIGNING", { code: "account_busy", outcome: "not_executed" }],
  ["CANCELLED", undefined],
] as const)("another subscription that is %s blocks as %o", (status, reason) => {
  const refusal = blockedBy({ id: 4n, masterLogin: "5001", investorLogin: "9001", status });
  expect(refusal && { code: refusal.code, outcome: refusal.outcome }).toEqual(reason);
});

test("each state of a Master that is not open is named", () => {
  for (const state of ["not_accepting", "closing", "archived", "lacks_money"] as const) {
    expect(notAccepting("3000001", state)).toMatchObject({
      code: "master_not_accepting",
      outcome: "not_executed",
      details: { state },
    });
  }
});
