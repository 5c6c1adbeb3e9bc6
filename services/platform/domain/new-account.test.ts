import { expect, test } from "vitest";
import { checkNewAccount, decideGroup, decideLeverage } from "./new-account.ts";

const GROUPS = { masterGroups: ["real\\a", "real\\b"], investorGroups: ["real\\i"], paymentGroup: "real\\p" };

test("each role has its own groups, and a payment account needs no group", () => {
  expect(decideGroup("master", "real\\b", GROUPS)).toBe("real\\b");
  expect(decideGroup("investor", "real\\i", GROUPS)).toBe("real\\i");
  expect(decideGroup("payment", "", GROUPS)).toBe("real\\p");
  expect(decideGroup("payment", "real\\p", GROUPS)).toBe("real\\p");
});

test.each([
  ["master", "real\\i"],
  ["master", ""],
  ["master", "REAL\\A"],
  ["investor", "real\\a"],
  ["payment", "real\\a"],
] as const)("a %s is not created in %j", (role, group) => {
  expect(() => decideGroup(role, group, GROUPS)).toThrow(expect.objectContaining({ code: "group_not_allowed" }));
});

test("the leverage of a new account is limited by its group, or by the setting for all groups", () => {
  const limits = { maxLeverage: 1_000, maxLeverageOfGroup: new Map([["real\\b", 2_000]]) };
  const leverageIn = (group: string, leverage: number) =>
    decideLeverage({ role: "master", group, leverage, isSent: false }, limits);

  expect([leverageIn("real\\a", 1_000), leverageIn("real\\b", 2_000)]).toEqual([1_000, 2_000]);
  for (const [group, limit] of [
    ["real\\a", 1_000],
    ["real\\b", 2_000],
  ] as const) {
    const message = `leverage must be from 1 to ${limit} in group ${group}.`;
    expect(() => leverageIn(group, limit + 1)).toThrow(
      expect.objectContaining({
        code: "validation_failed",
        outcome: "not_executed",
        errors: [{ field: "leverage", code: "out_of_range", message }],
      }),
    );
  }
});

test("the payment account of a Master with a higher leverage gets the limit of its group", () => {
  const limits = { maxLeverage: 1_000, maxLeverageOfGroup: new Map([["real\\p", 100]]) };

  expect(decideLeverage({ role: "payment", group: "real\\p", leverage: 1_000, isSent: false }, limits)).toBe(100);
});

const ACCOUNT = { key: "account:master:1", leverage: 100, firstName: "Ada", lastName: "Lovelace", email: "a@b.co" };
const check = (change: Partial<typeof ACCOUNT>) => () => checkNewAccount({ ...ACCOUNT, ...change });

test("all errors of a new account are reported together", () => {
  const wrong = { key: "", leverage: 0, firstName: "x".repeat(64), lastName: "a|b", email: "a=b@c.de" };
  const fields = ["first_name", "last_name", "email", "key", "leverage"];
  expect(check(wrong)).toThrow(
    expect.objectContaining({
      code: "validation_failed",
      errors: fields.map((field) => expect.objectContaining({ field }) as unknown),
    }),
  );
  for (const leverage of [0, 5_001, 1.5, Number.NaN]) expect(check({ leverage })).toThrow();
  for (const key of ["k".repeat(201), "with space", "ключ"]) expect(check({ key })).toThrow();
  expect(check({ leverage: 5_000 })).not.toThrow();
  expect(check({ key: "k".repeat(200), leverage: 1 })).not.toThrow();
});
