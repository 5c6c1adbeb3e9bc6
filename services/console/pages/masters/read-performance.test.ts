import { expect, test } from "vitest";
import type { Models } from "../../../client/index.ts";
import { joined } from "./read-performance.ts";

type Performance = Models["Performance"];

const piece = (own: Partial<Performance>): Performance => ({
  master_login: "3000001",
  from: "2025-01-01",
  to: "2026-01-02",
  currency: "USD",
  opening_nav_per_unit: null,
  closing_nav_per_unit: null,
  time_weighted_return: null,
  max_drawdown: "0",
  fees: "0",
  points: [],
  ...own,
});
const day = (name: string, value: string | null, result: string, drawdown: string | null = null) => ({
  day: name,
  nav_per_unit: value,
  change: null,
  drawdown,
  result,
  fees: "0",
  pool_value: value,
  last_deal_id: null,
  valued_at: null,
});

test("one piece is as the API has it", () => {
  const own = { closing_nav_per_unit: "1.45", time_weighted_return: "0.449", max_drawdown: "0.1", fees: "30" };
  expect(
    joined([piece({ ...own, points: [day("2025-01-02", "1450", "450"), day("2025-01-03", null, "0")] })]),
  ).toMatchObject({
    navPerUnit: "1.45",
    poolValue: "1450",
    growth: "0.449",
    drawdown: "0.1",
    result: "450.00",
    fees: "30.00",
  });
});

test("several pieces have the return from the first value to the last one", () => {
  const first = piece({ opening_nav_per_unit: "2", closing_nav_per_unit: "4", max_drawdown: "0.09", fees: "0.10" });
  const second = piece({
    opening_nav_per_unit: "4",
    closing_nav_per_unit: "3",
    max_drawdown: "0.2",
    fees: "0.20",
    points: [day("2026-01-01", "3", "0", "0.25")],
  });
  const lost = piece({ closing_nav_per_unit: "1.2", time_weighted_return: "-1", max_drawdown: "1" });
  expect(joined([lost, second])).toMatchObject({ growth: "-1" });
  expect(joined([lost])).toMatchObject({ growth: "-1", drawdown: "1" });
  expect(joined([piece({ opening_nav_per_unit: "0" }), second])).toMatchObject({ growth: "2.00" });
  expect(joined([first, second])).toMatchObject({ navPerUnit: "3", growth: "0.50", drawdown: "0.25", fees: "0.30" });
  expect(joined([piece({}), piece({})])).toMatchObject({ navPerUnit: null, growth: null, poolValue: null });
});
