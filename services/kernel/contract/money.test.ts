import { expect, test } from "vitest";
import { usd } from "../values/money.ts";
import { moneyFromProto, moneyToProto } from "./money.ts";

test("an amount beyond the precision of a float is equal after encoding and decoding", () => {
  const amount = usd(-9_007_199_254_740_993n);

  expect(moneyToProto(amount)).toEqual({ currencyCode: "USD", minorUnits: -9_007_199_254_740_993n });
  expect(moneyFromProto(moneyToProto(amount))).toEqual(amount);
});

test("a missing amount and an unsupported currency are refused with the field name of the caller", () => {
  expect(() => moneyFromProto(undefined, "min_deposit")).toThrow(
    expect.objectContaining({
      code: "amount_missing",
      status: "invalid",
      errors: [{ field: "min_deposit", code: "required", message: "min_deposit is required." }],
    }),
  );
  expect(() => moneyFromProto({ currencyCode: "EUR", minorUnits: 1n })).toThrow(
    expect.objectContaining({ code: "currency_not_supported", status: "invalid" }),
  );
  expect(() => moneyFromProto({ currencyCode: "", minorUnits: 1n })).toThrow("Field amount must be in USD.");
});
