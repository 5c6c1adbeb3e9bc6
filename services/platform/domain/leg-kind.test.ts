import { expect, test } from "vitest";
import { LEG_KINDS, allowsAmount } from "./leg-kind.ts";

test("every debit asks for the margin check but that of a result, which the Master has lost already", () => {
  const checked = Object.entries(LEG_KINDS).filter(([, { sign, checkMargin }]) => sign !== "credit" && checkMargin);
  expect(checked.map(([kind]) => kind)).toEqual(["withdrawal", "fee_debit", "mirror", "exit", "reversal"]);
});

test("an amount of zero is never allowed, and a deposit or a payout cannot have the wrong sign", () => {
  expect(allowsAmount("deposit", 1n)).toBe(true);
  expect(allowsAmount("deposit", -1n)).toBe(false);
  expect(allowsAmount("exit", 1n)).toBe(false);
  expect(allowsAmount("exit", -1n)).toBe(true);
  expect(allowsAmount("mirror", -1n)).toBe(true);
  for (const kind of ["deposit", "exit", "mirror"] as const) expect(allowsAmount(kind, 0n)).toBe(false);
});
