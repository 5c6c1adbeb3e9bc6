import { QUEUE_REFUSALS } from "#catalogue/queue-until-flat.ts";
import { refusalsOf } from "#kernel/values/refusal.ts";
import { TRANSFER_REFUSALS } from "#catalogue/transfer-refusals.ts";
import { REVIEW_REFUSALS } from "#kernel/review/refusals.ts";

/** The closed list of refusals of subscription, each with its status. */
export const { refuse, refusals } = refusalsOf({
  ...REVIEW_REFUSALS,
  ...QUEUE_REFUSALS,
  ...TRANSFER_REFUSALS,
  validation_failed: "invalid",
  invalid_cursor: "invalid",
  master_not_found: "not_found",
  investor_not_found: "not_found",
  subscription_not_found: "not_found",
  operation_not_found: "not_found",
  below_min_deposit: "conflict",
  investor_has_open_positions: "conflict",
  already_subscribed: "conflict",
  investor_previously_subscribed: "conflict",
  exit_in_progress: "conflict",
  master_not_accepting: "conflict",
  subscription_not_active: "conflict",
  master_open_positions: "conflict",
  allocation_in_progress: "conflict",
  investor_deficit: "conflict",
  account_archived: "conflict",
  account_busy: "conflict",
  too_many_queued: "conflict",
  safety_stop: "unavailable",
  service_unavailable: "unavailable",
  outcome_unknown: "unknown_outcome",
});
