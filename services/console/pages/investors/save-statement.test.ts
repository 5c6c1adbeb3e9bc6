import { expect, test } from "vitest";
import { isWhole } from "./save-statement.tsx";

const ROWS = [
  "number,booked_at,deal_at,kind,amount,balance,currency,deal_id,mt5_transfer_id",
  ",2026-01-01T00:00:00.000000,,opening_balance,,1000,USD,,",
  "12,2026-01-02T03:04:05.678000,2026-01-02T03:04:05.678000,deposit,250.5,1250.5,USD,1234567,77",
];
const END = ",2026-02-01T00:00:00.000000,,closing_balance,,1250.5,USD,,";

test("a file without its closing balance is not whole", () => {
  expect(isWhole([...ROWS, END, ""].join("\r\n"))).toBe(true);
  expect(isWhole([...ROWS, ""].join("\r\n"))).toBe(false);
  expect(isWhole([...ROWS, END, ROWS[2]].join("\r\n"))).toBe(false);
  expect(isWhole("")).toBe(false);
});
