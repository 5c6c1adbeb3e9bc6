type Kind = {
  readonly status: number;
  /** The same text for every occurrence. */
  readonly title: string;
  /** Nothing was executed, and the same request may succeed a little later. */
  readonly retryable?: true;
  /** Facts of a refusal that become members of the body. */
  readonly members?: Readonly<Record<string, "text" | "integer">>;
  /** Of the members, those that an occurrence may lack. */
  readonly optional?: readonly string[];
};

/** Every problem of this interface. Callers branch on the code, so its meaning never changes. */
export const PROBLEMS = {
  bad_request: { status: 400, title: "The request is malformed" },
  malformed_json: { status: 400, title: "The request body is not valid JSON" },
  unauthorized: { status: 401, title: "A valid API key is required" },
  insufficient_scope: { status: 403, title: "The API key lacks a scope", members: { required_scope: "text" } },
  route_not_found: { status: 404, title: "Route not found" },
  master_not_found: { status: 404, title: "Master not found" },
  investor_not_found: { status: 404, title: "Investor not found" },
  subscription_not_found: { status: 404, title: "Subscription not found" },
  fee_configuration_not_found: { status: 404, title: "Fee configuration not found" },
  fee_version_not_found: { status: 404, title: "Fee version not found" },
  fee_payment_not_found: { status: 404, title: "Fee payment not found" },
  fee_run_not_found: { status: 404, title: "Fee run not found" },
  operation_not_found: { status: 404, title: "Operation not found" },
  operation_removed: { status: 410, title: "Operations of this age are removed" },
  events_removed: {
    status: 410,
    title: "Events of this age are removed",
    members: { removed_through: "integer" },
  },
  webhook_not_found: { status: 404, title: "Webhook not found" },
  break_not_found: { status: 404, title: "Break not found" },
  review_not_found: { status: 404, title: "Review not found" },
  login_not_managed: { status: 404, title: "The account is not managed by this service" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  request_timeout: { status: 408, title: "The request was not received in time", retryable: true },
  login_already_registered: { status: 409, title: "The login is already registered" },
  login_in_use: { status: 409, title: "The login is in use in another role" },
  payment_account_in_use: { status: 409, title: "The payment account is already assigned" },
  payment_account_has_open_positions: {
    status: 409,
    title: "The payment account has open positions",
    members: { open_positions: "integer" },
  },
  below_min_deposit: {
    status: 409,
    title: "The balance is below the minimum deposit",
    members: { required: "text", actual: "text" },
  },
  investor_has_open_positions: {
    status: 409,
    title: "The Investor has open positions",
    members: { open_positions: "integer" },
  },
  already_subscribed: { status: 409, title: "The Investor already has a subscription" },
  investor_previously_subscribed: { status: 409, title: "The Investor was subscribed before" },
  exit_in_progress: { status: 409, title: "An exit is already in progress" },
  subscription_not_active: { status: 409, title: "The subscription is not active" },
  fees_in_progress: {
    status: 409,
    title: "Performance fees of the Master are being collected",
    members: { open_payments: "integer" },
  },
  master_closed: { status: 409, title: "The Master is closed", members: { state: "text" } },
  master_not_accepting: { status: 409, title: "The Master does not accept Investors", members: { state: "text" } },
  master_open_positions: {
    status: 409,
    title: "The Master has open positions",
    members: { open_positions: "integer" },
  },
  allocation_in_progress: { status: 409, title: "Trading results are being allocated", retryable: true },
  account_archived: {
    status: 409,
    title: "The broker has archived or deleted the account",
    members: { mt5_login: "text" },
  },
  account_busy: {
    status: 409,
    title: "Another operation on this account is in progress",
    retryable: true,
    members: { reason: "text" },
    optional: ["reason"],
  },
  operation_in_progress: { status: 409, title: "An identical operation is still being processed" },
  operation_not_cancellable: { status: 409, title: "The operation does not wait" },
  too_many_queued: { status: 409, title: "Too many withdrawals of the Investor wait" },
  cancelled: { status: 409, title: "The operation was cancelled" },
  expired: { status: 409, title: "The operation has expired" },
  possible_duplicate: {
    status: 409,
    title: "An identical operation was executed recently",
    members: { deal_id: "integer" },
    optional: ["deal_id"],
  },
  external_id_in_use: { status: 409, title: "The external_id is in use" },
  investor_not_closed: { status: 409, title: "The Investor is not closed" },
  investor_erased: { status: 409, title: "The personal data of the Investor was erased" },
  insufficient_funds: { status: 409, title: "Insufficient funds" },
  investor_deficit: { status: 409, title: "The Investor's share of the pool is negative" },
  fee_version_not_scheduled: {
    status: 409,
    title: "The fee version is not scheduled any more",
    members: { state: "text" },
  },
  too_many_scheduled_versions: { status: 409, title: "Too many fee versions are scheduled" },
  too_many_webhooks: { status: 409, title: "The client has as many webhooks as it may have" },
  review_decided: { status: 409, title: "The review is already decided" },
  action_not_possible: {
    status: 409,
    title: "This action is not available now",
    members: { actions: "text" },
    optional: ["actions"],
  },
  second_approver_required: { status: 409, title: "Approval by a second owner of an API key is required" },
  decision_differs: {
    status: 409,
    title: "A different action is already proposed",
    members: { proposed_action: "text", proposed_deal_id: "text", proposed_by: "text" },
  },
  conflict: { status: 409, title: "Conflict with the current state" },
  body_too_large: { status: 413, title: "The request body is too large" },
  url_too_long: { status: 414, title: "The URL is too long" },
  unsupported_media_type: { status: 415, title: "The request body must be application/json" },
  expectation_failed: { status: 417, title: "The expectation is not supported" },
  validation_failed: { status: 422, title: "The request is invalid" },
  invalid_cursor: { status: 422, title: "The cursor is invalid" },
  amount_precision: { status: 422, title: "The amount has more than two decimals" },
  currency_not_supported: {
    status: 422,
    title: "Only USD with two digits is supported",
    members: { group: "text", currency: "text", digits: "text" },
    optional: ["group", "currency", "digits"],
  },
  group_not_allowed: { status: 422, title: "The platform group is not allowed" },
  platform_account_not_found: { status: 422, title: "The account does not exist on the trading platform" },
  payment_account_equals_master: { status: 422, title: "The payment account must differ from the trading account" },
  idempotency_key_reused: { status: 422, title: "The Idempotency-Key was used for another request" },
  rate_limited: { status: 429, title: "Too many requests", retryable: true },
  headers_too_large: { status: 431, title: "The request headers are too large" },
  internal_error: { status: 500, title: "Internal error" },
  platform_rejected: {
    status: 502,
    title: "The trading platform rejected the operation",
    members: { platform_code: "integer" },
    optional: ["platform_code"],
  },
  platform_unavailable: { status: 503, title: "The trading platform cannot be reached", retryable: true },
  service_unavailable: { status: 503, title: "A required service cannot be reached", retryable: true },
  safety_stop: { status: 503, title: "Operations are suspended pending manual review" },
  webhooks_not_set_up: { status: 503, title: "Webhooks are not set up on this system" },
  login_range_exhausted: { status: 503, title: "No login is left in the range for new accounts" },
  outcome_unknown: { status: 504, title: "The outcome is unknown" },
} as const satisfies Record<string, Kind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** The page that explains the code, on every installation: a full path, because the service does not know by which names clients reach it. */
export function problemType(code: string): string {
  return `/docs/problems/${code}`;
}

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

export function problemKind(code: ProblemCode): Kind {
  return PROBLEMS[code];
}
