import { refusalsOf } from "#kernel/values/refusal.ts";

/** All refusals of account. */
export const { refuse, refusals } = refusalsOf({
  validation_failed: "invalid",
  invalid_cursor: "invalid",
  group_not_allowed: "invalid",
  currency_not_supported: "invalid",
  payment_account_equals_master: "invalid",
  platform_account_not_found: "invalid",
  master_not_found: "not_found",
  investor_not_found: "not_found",
  login_already_registered: "conflict",
  login_in_use: "conflict",
  payment_account_in_use: "conflict",
  payment_account_has_open_positions: "conflict",
  master_closed: "conflict",
  account_busy: "conflict",
  investor_not_closed: "conflict",
  investor_erased: "conflict",
  external_id_in_use: "conflict",
  platform_rejected: "rejected",
  platform_unavailable: "unavailable",
  service_unavailable: "unavailable",
  outcome_unknown: "unknown_outcome",
});
