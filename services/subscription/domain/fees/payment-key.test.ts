import { expect, test } from "vitest";
import { paymentKey } from "./due.ts";

const week = { cutOff: new Date("2026-11-21T00:00:00Z") };
const withdrawal = { key: "withdrawal:0193" };
const investor = { investorLogin: "2001", masterLogin: "1001" };

test("the key of a fee says what the fee is for", () => {
  expect(paymentKey(week, { ...investor, suffix: "W" })).toBe("fee:2001:1001:W:2026-11-21T00:00:00.000Z");
  expect(paymentKey(week, { ...investor, suffix: "DEBT" })).toBe("fee:2001:1001:DEBT:2026-11-21T00:00:00.000Z");
  expect(paymentKey(withdrawal, { ...investor, suffix: "WD0193" })).toBe("fee:2001:1001:WD0193");
  expect(paymentKey(withdrawal, { ...investor, suffix: "DEBT" })).toBe("fee:2001:1001:DEBT:withdrawal:0193");
});
