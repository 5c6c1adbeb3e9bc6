import { expect, test } from "vitest";
import { LEG_KINDS, allowsAmount } from "./leg-kind.ts";
import { foldText } from "./reference.ts";

test("every debit asks for the margin check but that of a result, which the Master has lost already", () => {
  const checked = Object.entries(LEG_KINDS).filter(([, { sign, checkMargin }]) => sign !== "credit" && checkMargin);
  expect(checked.map(([kind]) => kind)).toEqual(["withdrawal", "fee_debit", "mirror", "exit", "reversal"]);
});

test("only the deposit or withdrawal itself carries its caller's comment, and the texts of the service fit without being cut", () => {
  for (const [kind, { comment, origin }] of Object.entries(LEG_KINDS)) {
    expect(comment === undefined, kind).toBe(origin === "external");
    if (comment !== undefined) expect(foldText(comment)).toBe(comment);
  }
});

test("an amount of zero is never allowed, and a deposit or a payout cannot have the wrong sign", () => {
  expect(allowsAmount("deposit", 1n)).toBe(true);
  expect(allowsAmount("deposit", -1n)).toBe(false);
  expect(allowsAmount("exit", 1n)).toBe(false);
  expect(allowsAmount("exit", -1n)).toBe(true);
  expect(allowsAmount("mirror", -1n)).toBe(true);
  for (const kind of ["deposit", "exit", "mirror"] as const) expect(allowsAmount(kind, 0n)).toBe(false);
});

test("every leg but the credit of a payment account occupies its login until its outcome is known", () => {
  const nonExclusive = Object.entries(LEG_KINDS).filter(([, { exclusive }]) => !exclusive);
  expect(nonExclusive.map(([kind]) => kind)).toEqual(["fee_credit"]);
});

test("a leg with an applied debit needs manual review when no attempt is left, and every other is refused", () => {
  const reviewed = Object.entries(LEG_KINDS).filter(([, { whenExhausted }]) => whenExhausted === "review");
  expect(reviewed.map(([kind]) => kind)).toEqual(["fee_credit", "reversal"]);
});

test("only deposits and withdrawals are never sent a second time", () => {
  const external = Object.entries(LEG_KINDS).filter(([, { origin }]) => origin === "external");
  expect(external.map(([kind]) => kind)).toEqual(["deposit", "withdrawal"]);
});
