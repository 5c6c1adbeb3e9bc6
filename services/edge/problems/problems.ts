type Kind = {
  readonly status: number;
  /** The same words for every occurrence. */
  readonly title: string;
  /** The very same request may succeed if it is sent again a little later, and nothing was done for this one. */
  readonly retryable?: true;
  /** Facts of a refusal that become members of the body. */
  readonly members?: Readonly<Record<string, "text" | "integer">>;
};

/** Everything that this interface says no with. Callers branch on the code, so it never changes its meaning. */
export const PROBLEMS = {
  bad_request: { status: 400, title: "The request is not understood" },
  malformed_json: { status: 400, title: "The body is not JSON" },
  unauthorized: { status: 401, title: "A valid API key is required" },
  insufficient_scope: { status: 403, title: "The API key does not allow this", members: { required_scope: "text" } },
  route_not_found: { status: 404, title: "There is no such route" },
  master_not_found: { status: 404, title: "There is no such Master" },
  investor_not_found: { status: 404, title: "There is no such Investor" },
  subscription_not_found: { status: 404, title: "There is no such subscription" },
  fee_configuration_not_found: { status: 404, title: "The Investor has no fee configuration" },
  operation_not_found: { status: 404, title: "There is no such operation" },
  review_not_found: { status: 404, title: "There is no such review" },
  method_not_allowed: { status: 405, title: "The route does not know this method" },
  request_timeout: { status: 408, title: "The request did not arrive in time", retryable: true },
  login_already_registered: { status: 409, title: "The login is registered already" },
  login_in_use: { status: 409, title: "The login has another role" },
  payment_account_in_use: { status: 409, title: "The payment account is assigned elsewhere" },
  below_min_deposit: {
    status: 409,
    title: "The Master's minimum is not met",
    members: { required: "text", actual: "text" },
  },
  investor_has_open_positions: {
    status: 409,
    title: "The Investor has open positions",
    members: { open_positions: "integer" },
  },
  already_subscribed: { status: 409, title: "The Investor follows a Master already" },
  investor_previously_subscribed: { status: 409, title: "The Investor had a subscription before" },
  exit_in_progress: { status: 409, title: "The Investor is leaving this Master already" },
  subscription_not_active: { status: 409, title: "The subscription is not active" },
  master_open_positions: {
    status: 409,
    title: "The Master has open positions",
    members: { open_positions: "integer" },
  },
  allocation_in_progress: { status: 409, title: "Results of the Master are being allocated", retryable: true },
  account_busy: { status: 409, title: "Another operation on this account is under way", retryable: true },
  operation_in_progress: { status: 409, title: "An equal operation is not resolved yet" },
  possible_duplicate: {
    status: 409,
    title: "An equal operation was executed lately",
    members: { deal_id: "integer" },
  },
  insufficient_funds: { status: 409, title: "The account has not enough money" },
  investor_deficit: { status: 409, title: "The Investor's share is negative" },
  review_decided: { status: 409, title: "The review is decided already" },
  action_not_possible: { status: 409, title: "This cannot be decided now", members: { actions: "text" } },
  second_approver_required: { status: 409, title: "Another API key has to say the same" },
  decision_differs: {
    status: 409,
    title: "Something else is proposed",
    members: { proposed_action: "text", proposed_deal_id: "text", proposed_by: "text" },
  },
  conflict: { status: 409, title: "Something is in the way" },
  body_too_large: { status: 413, title: "The body is too large" },
  url_too_long: { status: 414, title: "The URL is too long" },
  unsupported_media_type: { status: 415, title: "The body has to be application/json" },
  validation_failed: { status: 422, title: "The request is not valid" },
  invalid_cursor: { status: 422, title: "The cursor is not valid here" },
  amount_precision: { status: 422, title: "The amount has too many decimals" },
  currency_not_supported: { status: 422, title: "Only USD is supported" },
  group_not_allowed: { status: 422, title: "The platform group is not on the operator's list" },
  platform_account_not_found: { status: 422, title: "The platform has no such account" },
  payment_account_equals_master: { status: 422, title: "The payment account has to differ from the trading account" },
  idempotency_key_reused: { status: 422, title: "The idempotency key was used for another request" },
  rate_limited: { status: 429, title: "Too many requests", retryable: true },
  headers_too_large: { status: 431, title: "The headers are too large" },
  internal_error: { status: 500, title: "Something went wrong on our side" },
  platform_rejected: {
    status: 502,
    title: "The trading platform refused",
    members: { platform_code: "integer" },
  },
  platform_unavailable: { status: 503, title: "The trading platform cannot be reached", retryable: true },
  service_unavailable: { status: 503, title: "A part of this service cannot be reached", retryable: true },
  safety_stop: { status: 503, title: "This Master is stopped until a person decides" },
  login_range_exhausted: { status: 503, title: "No login is left to allocate" },
  outcome_unknown: { status: 504, title: "The outcome is not known yet" },
} as const satisfies Record<string, Kind>;

export type ProblemCode = keyof typeof PROBLEMS;

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

export function problemKind(code: ProblemCode): Kind {
  return PROBLEMS[code];
}
