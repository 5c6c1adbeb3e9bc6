import { KEY_REFUSALS } from "#kernel/key-refusals.ts";
import { refusalsOf } from "#kernel/refusal.ts";

/** What the edge itself refuses, before it calls a service. */
export const { refuse, refusals } = refusalsOf({
  ...KEY_REFUSALS,
  bad_request: "invalid",
  malformed_json: "invalid",
  body_too_large: "invalid",
  url_too_long: "invalid",
  unsupported_media_type: "invalid",
  expectation_failed: "invalid",
  request_timeout: "invalid",
  headers_too_large: "invalid",
  validation_failed: "invalid",
  invalid_cursor: "invalid",
  amount_precision: "invalid",
  currency_not_supported: "invalid",
  operation_not_found: "not_found",
  events_removed: "not_found",
  review_not_found: "not_found",
  break_not_found: "not_found",
  webhook_not_found: "not_found",
  too_many_webhooks: "conflict",
  webhooks_not_set_up: "unavailable",
  unauthorized: "forbidden",
  insufficient_scope: "forbidden",
  route_not_found: "not_found",
  method_not_allowed: "invalid",
  rate_limited: "busy",
  allocation_in_progress: "conflict",
  service_unavailable: "unavailable",
  outcome_unknown: "unknown_outcome",
});
