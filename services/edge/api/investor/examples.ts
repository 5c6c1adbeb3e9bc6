/** An Investor with its labels. */
export const INVESTOR_PROFILE = {
  engine: "PAMM",
  id: 8,
  mt5_login: "3000003",
  name: "Ada",
  email: "ada@example.com",
  external_id: "CRM-7001",
  metadata: { segment: "retail" },
  created_at: "2026-01-02T03:04:05.678000",
} as const;
