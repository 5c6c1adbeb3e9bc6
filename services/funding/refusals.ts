import { KEY_REFUSALS } from "#catalogue/key-refusals.ts";
import { QUEUE_REFUSALS } from "#catalogue/queue-until-flat.ts";
import { refusalsOf } from "#kernel/values/refusal.ts";
import { TRANSFER_REFUSALS } from "#catalogue/transfer-refusals.ts";

/** All refusals of funding. */
export const { refuse, refusals } = refusalsOf({
  ...QUEUE_REFUSALS,
  ...KEY_REFUSALS,
  ...TRANSFER_REFUSALS,
  validation_failed: "invalid",
  investor_not_found: "not_found",
  operation_not_found: "not_found",
  operation_removed: "not_found",
  account_archived: "conflict",
  account_busy: "conflict",
  master_open_positions: "conflict",
  allocation_in_progress: "conflict",
  investor_deficit: "conflict",
  safety_stop: "unavailable",
  service_unavailable: "unavailable",
  outcome_unknown: "unknown_outcome",
});
