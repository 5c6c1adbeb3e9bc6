import { expect, test } from "vitest";
import { usd } from "#kernel/money.ts";
import { type ClosingFacts, decideClosed } from "./erasure.ts";

const CLOSED: ClosingFacts = {
  subscription: undefined,
  balance: usd(0n),
  credit: usd(0n),
  openPositions: 0,
  operationOpen: false,
};
const decide = (open: Partial<ClosingFacts>): void => decideClosed({ login: "9" }, { ...CLOSED, ...open });

test("an Investor without anything open may be erased", () => {
  expect(() => decide({})).not.toThrow();
});

test.each([
  ["a subscription", { subscription: { masterLogin: "5", status: "ACTIVE" } }, "subscription_open"],
  ["a balance", { balance: usd(-1n) }, "balance_not_zero"],
  ["a credit", { credit: usd(1n) }, "credit_not_zero"],
  ["an open position", { openPositions: 1 }, "open_positions"],
  ["an operation", { operationOpen: true }, "operation_open"],
] as const)("%s alone is a reason", (_, open, code) => {
  expect(() => decide(open)).toThrow(
    expect.objectContaining({ code: "investor_not_closed", errors: [expect.objectContaining({ code })] }),
  );
});
