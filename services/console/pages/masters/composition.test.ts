import { expect, test } from "vitest";
import { compositionOf } from "./composition.ts";

const sums = (balance: string, own = "0") => ({
  platform_balance: balance,
  ledger_balance: balance,
  in_flight: "0",
  quarantined: "0",
  own_capital: own,
  difference: "0",
});
const account = (login: string, balance: string) => ({ ...sums(balance), mt5_login: login, last_deal_id: null });

test("the largest shares come first, and all parts add up to the whole", () => {
  const investors = Array.from({ length: 8 }, (_, index) => account(String(3_000_003 + index), `${index + 1}.10`));
  const master = { ...account("3000001", "100"), own_capital: "10.50" };
  const proof = { total: sums("236.80", "10.50"), master, investors_count: 12n };
  const { parts, whole } = compositionOf(proof, investors);
  expect(whole).toBe("147.30");
  expect(parts.map(({ title, amount }) => [title, amount])).toEqual([
    ["3000010", "8.10"],
    ["3000009", "7.10"],
    ["3000008", "6.10"],
    ["3000007", "5.10"],
    ["3000006", "4.10"],
    ["3000005", "3.10"],
    ["6 others", "103.20"],
    ["Own capital of the Master", "10.50"],
  ]);
});

test("an empty pool has no part", () => {
  const proof = { total: sums("0"), master: account("3000001", "0"), investors_count: 0n };
  expect(compositionOf(proof, [])).toEqual({ parts: [], whole: "0.00" });
});
