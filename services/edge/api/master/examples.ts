const SHOWN = {
  engine: "PAMM",
  id: 7,
  mt5_login: "3000001",
  name: "Alpha Strategy",
  strategy_name: "Alpha",
  strategy: "Trend following.",
  investors_count: 2,
  payment_account_login: "3000002",
  min_deposit: 100.5,
} as const;

const CREATED_AT = "2026-01-02T03:04:05.678000";

/** A Master, for the examples of the routes that answer with one or list some. */
export const MASTER = { ...SHOWN, created_at: CREATED_AT } as const;

/** The same Master with its labels. */
export const MASTER_PROFILE = {
  ...SHOWN,
  email: "ada@example.com",
  external_id: "CRM-7001",
  metadata: { segment: "retail" },
  created_at: CREATED_AT,
} as const;
