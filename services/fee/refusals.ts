import { refusalsOf } from "#kernel/values/refusal.ts";
import { REVIEW_REFUSALS } from "#kernel/review/refusals.ts";

/** All refusals of fee. */
export const { refuse, refusals } = refusalsOf({
  ...REVIEW_REFUSALS,
  validation_failed: "invalid",
  invalid_cursor: "invalid",
  investor_not_found: "not_found",
  fee_configuration_not_found: "not_found",
  fee_version_not_found: "not_found",
  fee_version_not_scheduled: "conflict",
  too_many_scheduled_versions: "conflict",
  fee_payment_not_found: "not_found",
  fee_run_not_found: "not_found",
  /** The fees of a Master do not reconcile; manual review is required. */
  safety_stop: "unavailable",
  /** Fees of the Master are being recorded, or its results are being allocated. */
  allocation_in_progress: "unavailable",
  fees_in_progress: "conflict",
  payment_account_in_use: "conflict",
  lock_not_owned: "conflict",
  platform_unavailable: "unavailable",
  service_unavailable: "unavailable",
  outcome_unknown: "unknown_outcome",
});
