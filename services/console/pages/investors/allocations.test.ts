import { expect, test } from "vitest";
import { arithmeticOf } from "./allocations.tsx";

const ALLOCATION = {
  master_login: "3000001",
  subscription_id: 4n,
  number: 17n,
  deal_id: 1n,
  deal_at: "2026-01-02T03:04:05.678000",
  allocated_at: "2026-01-02T03:04:05.678000",
  deal_result: "-100",
  amount: "-33.33",
  units: "1000",
  pool_units: "3000",
  correction: null,
};

test("the arithmetic of a part is written out, with what is less than a cent", () => {
  expect(arithmeticOf(ALLOCATION)).toBe("−100.00 × 1,000.00 ÷ 3,000.00 = −33.333333");
});
