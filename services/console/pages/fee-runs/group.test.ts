import { expect, test } from "vitest";
import type { Models } from "../../../client/index.ts";
import { runsOf } from "./group.ts";

const payment = (id: bigint, run: bigint, amount: string, suffix = "W"): Models["FeePayment"] => ({
  id,
  run_id: run,
  run_status: "EXECUTED",
  run_period_start: "2026-01-05T00:00:00.000000",
  run_period_end: "2026-01-12T00:00:00.000000",
  investor_id: 8n,
  investor_mt5_login: "3000003",
  amount,
  currency: "USD",
  status: "EXECUTED",
  mt5_transfer_id: 77n,
  mt5_op_id: 1n,
  executed_at: "2026-01-12T00:00:05.000000",
  cashflow_id: 31n,
  cashflow_unique_key: `PF:3000003:3000001:${run}:${suffix}`,
  created_at: "2026-01-12T00:00:05.000000",
});

test("payments belong to their run, with an exact sum", () => {
  const runs = runsOf([payment(9n, 3n, "0.20"), payment(8n, 4n, "1", "WD01"), payment(7n, 3n, "0.1")]);
  expect(runs.map(({ id, takenAt, payments, sum }) => [id, takenAt, payments, sum])).toEqual([
    [4n, "withdrawal", 1, "1.00"],
    [3n, "week", 2, "0.30"],
  ]);
  expect(runsOf([])).toEqual([]);
});
