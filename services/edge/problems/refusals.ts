import { refusalsOf } from "#kernel/refusal.ts";

/** What the edge itself refuses, before it calls a service. */
export const { refuse, refusals } = refusalsOf({
  bad_request: "invalid",
  malformed_json: "invalid",
  body_too_large: "invalid",
  url_too_long: "invalid",
  unsupported_media_type: "invalid",
  request_timeout: "invalid",
  headers_too_large: "invalid",
  validation_failed: "invalid",
  invalid_cursor: "invalid",
  amount_precision: "invalid",
  currency_not_supported: "invalid",
  idempotency_key_reused: "invalid",
  operation_in_progress: "conflict",
  operation_not_found: "not_found",
  events_removed: "not_found",
  unauthorized: "forbidden",
  insufficient_scope: "forbidden",
  route_not_found: "not_found",
  method_not_allowed: "invalid",
  rate_limited: "busy",
  service_unavailable: "unavailable",
  outcome_unknown: "unknown_outcome",
});
