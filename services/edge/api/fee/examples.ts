/** A fee of a week that was paid. */
export const FEE_PAYMENT = {
  id: 21,
  run_id: 12,
  run_status: "EXECUTED",
  run_period_start: "2026-01-02T03:04:05.678000",
  run_period_end: "2026-02-03T04:05:06.789000",
  investor_id: 8,
  investor_mt5_login: "3000003",
  amount: 12.34,
  currency: "USD",
  status: "EXECUTED",
  mt5_transfer_id: 77,
  mt5_op_id: 1234569,
  executed_at: "2026-02-03T04:05:06.789000",
  cashflow_id: 31,
  cashflow_unique_key: "PF:3000003:3000001:12:W",
  created_at: "2026-02-03T04:05:06.789000",
} as const;
