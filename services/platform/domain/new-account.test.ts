import { expect, test } from "vitest";
import { checkNewAccount, decideGroup } from "./new-account.ts";

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

test("all errors of a new account are reported together", () => {
  expect(() => checkNewAccount({ key: "", leverage: 0 })).toThrow(
    expect.objectContaining({
      code: "validation_failed",
      errors: [{ field: "key" }, { field: "leverage" }].map((error) => expect.objectContaining(error) as unknown),
    }),
  );
  for (const leverage of [0, 501, 1.5, Number.NaN]) expect(() => checkNewAccount({ key: "k", leverage })).toThrow();
  for (const key of ["k".repeat(201), "with space", "ключ"]) {
    expect(() => checkNewAccount({ key, leverage: 100 })).toThrow();
  }
  expect(() => checkNewAccount({ key: "account:master:1", leverage: 500 })).not.toThrow();
  expect(() => checkNewAccount({ key: "k".repeat(200), leverage: 1 })).not.toThrow();
});
