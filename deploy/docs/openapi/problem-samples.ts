import { Refusal, type RefusalStatus, type FieldError, type RefusalExtra } from "#kernel/refusal.ts";
import { keyReused } from "#kernel/key-refusals.ts";
import { type Problem, problemOf, type RequestFacts } from "../../../services/edge/problems/problem.ts";
import { PROBLEMS, type ProblemCode } from "../../../services/edge/problems/problems.ts";

/** The text and the facts with which services refuse; missing where the code has one text for all. */
type Sample = readonly [detail: string, extra?: RefusalExtra];

const RETRY = { retryAfterMs: 1_000 };
export const AN_OPERATION = "0198c0de-0000-7000-8000-000000000001";
const BLOCKING = { operationId: "0198c0de-0000-7000-8000-000000000002" };
const EXTERNAL_ID_IN_USE = "Another Investor has the external_id CRM-7001.";

const SAMPLES: Readonly<Partial<Record<ProblemCode, Sample>>> = {
  bad_request: ["The request is not valid HTTP/1.1."],
  malformed_json: ["The request body is not valid JSON in UTF-8."],
  unauthorized: ["A valid API key is required as a bearer token in the Authorization header."],
  route_not_found: ["Route GET /api/v1/info/balance/ does not exist."],
  master_not_found: ["No Master has the login 3000001."],
  investor_not_found: ["No Investor has the login 3000003."],
  subscription_not_found: ["Investor 3000003 was never assigned to Master 3000001."],
  fee_configuration_not_found: ["Investor 3000003 has no fee configuration."],
  fee_payment_not_found: ["There is no fee payment 21."],
  fee_run_not_found: ["There is no fee run 12."],
  fee_version_not_scheduled: ["The fee version is not scheduled any more.", { details: { state: "in_force" } }],
  operation_not_found: [noOperation(AN_OPERATION)],
  operation_removed: [
    "Deposits and withdrawals of this age are not kept any more. That this one is not found proves nothing about it.",
  ],
  events_removed: [
    "Events up to 900 are not kept any more, so events after the given one may be missing. Read the state of what you follow, then go on without `after`.",
    { details: { removed_through: "900" } },
  ],
  webhook_not_found: ["This client has no webhook 17."],
  too_many_webhooks: ["A client may have 10 webhooks. Delete one first."],
  webhooks_not_set_up: ["The operator has not set PAMM_WEBHOOK_KEY, which protects the secrets of webhooks."],
  break_not_found: ["There is no open break platform-17."],
  review_not_found: ["Review 17 does not exist."],
  login_not_managed: ["Account 3000001 is not managed by this service."],
  method_not_allowed: ["Method DELETE is not allowed. Allowed: GET, PATCH, HEAD, OPTIONS."],
  request_timeout: ["The request was not received within 10 seconds."],
  login_already_registered: ["Login 3000001 is already registered as a Master."],
  external_id_in_use: [
    EXTERNAL_ID_IN_USE,
    { errors: [{ field: "external_id", code: "external_id_in_use", message: EXTERNAL_ID_IN_USE }] },
  ],
  login_in_use: ["Login 3000001 is in use: it is a payment account."],
  payment_account_in_use: ["Payment account 3000002 is already assigned to another Master."],
  payment_account_has_open_positions: [
    "Account 3000002 has open positions: 2. A payment account never trades: close them first.",
    { details: { open_positions: "2" } },
  ],
  below_min_deposit: [
    "Investor balance 0.00 USD is below the Master's minimum deposit of 500.00 USD.",
    { details: { required: "500.00", actual: "0.00" } },
  ],
  investor_has_open_positions: [
    "The Investor has open positions: 2. Close them first.",
    { details: { open_positions: "2" } },
  ],
  already_subscribed: ["Investor 3000003 already has an active subscription (id 9) to Master 3000001."],
  investor_previously_subscribed: ["The Investor already had a subscription. Only one per Investor is allowed."],
  exit_in_progress: ["The subscription of Investor 3000003 to Master 3000001 is already ending (subscription id 9)."],
  subscription_not_active: ["The subscription of Investor 3000003 to Master 3000001 has ended (subscription id 9)."],
  fees_in_progress: [
    "Performance fees of Master 3000001 are being collected: 2. Retry when they are paid.",
    { details: { open_payments: "2" } },
  ],
  master_closed: ["Master 3000001 is archived.", { details: { state: "archived" } }],
  master_not_accepting: ["Master 3000001 does not accept new Investors now.", { details: { state: "not_accepting" } }],
  master_open_positions: [
    "The Master has open positions: 2. Retry when they are closed.",
    { details: { open_positions: "2" } },
  ],
  allocation_in_progress: [
    "The Master's latest deals are still being allocated to its Investors, which takes seconds. Nothing was executed. Send the request again in a second.",
    RETRY,
  ],
  account_archived: [
    "The trading platform does not show account 3000003 any more: the broker has archived or deleted it. Nothing was executed. It ends by itself when the broker restores the account.",
    { outcome: "not_executed", details: { mt5_login: "3000003" } },
  ],
  account_busy: [
    "Another operation on this account is in progress, and this one waited 5 seconds for its end. Nothing was executed. Send the request again in a second.",
    { ...RETRY, ...BLOCKING },
  ],
  operation_in_progress: [
    `An identical operation is still being processed (${BLOCKING.operationId}).`,
    { ...RETRY, ...BLOCKING, outcome: "unknown" },
  ],
  operation_not_cancellable: ["The operation does not wait: it was never queued, has begun or has ended.", BLOCKING],
  too_many_queued: ["The Investor has 20 withdrawals that wait. Cancel one, or retry when the Master is flat."],
  cancelled: ["The operation was cancelled while it waited. Nothing was executed.", BLOCKING],
  expired: ["The operation has expired: the Master was not flat in time. Nothing was executed.", BLOCKING],
  possible_duplicate: [
    "An identical operation was executed within the last 24 hours (deal 1234567).",
    { ...BLOCKING, details: { deal_id: "1234567" } },
  ],
  insufficient_funds: ["The account's free funds are below the requested amount."],
  investor_deficit: [
    "The Investor's share of the pool is -3.21 USD. A compensation of the broker, or a decision of operators, has to cover it first.",
  ],
  review_decided: ["Review platform-17 is already decided."],
  action_not_possible: [
    "Action 'resume' is not available now. Available: reverse, acknowledge.",
    { details: { actions: "reverse, acknowledge" } },
  ],
  second_approver_required: [
    "Action 'confirm_applied' was proposed by 'anna', the owner of this API key. Approval with a key of another owner is required.",
  ],
  decision_differs: [
    "Action 'confirm_not_applied' is already proposed. Approve it by proposing the same, or send withdraw_proposal first.",
    { details: { proposed_action: "confirm_not_applied", proposed_deal_id: "0", proposed_by: "anna" } },
  ],
  conflict: ["Another request changed this at the same time."],
  body_too_large: ["The request body is too large."],
  url_too_long: ["The URL is longer than 8192 characters."],
  unsupported_media_type: ["The request body must be application/json."],
  expectation_failed: ["The only expectation that the header Expect may have is 100-continue."],
  group_not_allowed: ["Group 'other' is not allowed for this role."],
  platform_account_not_found: ["The trading platform does not show account 3000001."],
  payment_account_equals_master: ["The payment account must differ from the trading account."],
  idempotency_key_reused: [keyReused(BLOCKING.operationId, "unknown").message, { ...BLOCKING, outcome: "unknown" }],
  rate_limited: [
    "This client has sent more requests than it may at this rate, by this API key and those that it has replaced. Send the request again after the time in Retry-After.",
    RETRY,
  ],
  headers_too_large: ["The request headers are longer than 32768 bytes."],
  platform_rejected: [
    "The trading platform refused the operation with code 10006.",
    { details: { platform_code: "10006" } },
  ],
  platform_unavailable: ["The trading platform cannot be reached. Nothing was executed.", RETRY],
  service_unavailable: ["", RETRY],
  safety_stop: ["Operations on Master 3000001 are suspended pending manual review."],
  login_range_exhausted: ["No login is left in MT5_LOGIN_RANGE. An operator must extend the range."],
};

export function noOperation(id: string): string {
  return `No deposit, withdrawal, assign or unassign has the id ${id}.`;
}

const STATUS_OF: Readonly<Record<number, RefusalStatus>> = {
  404: "not_found",
  409: "conflict",
  410: "not_found",
  429: "busy",
  500: "internal",
  502: "rejected",
  503: "unavailable",
  504: "unknown_outcome",
};

/** What differs between two requests with the same code. */
export type OwnFacts = RefusalExtra & { readonly message?: string };

/** The problem as the edge writes it. */
export function sampleProblem(code: ProblemCode, facts: RequestFacts, extra: OwnFacts): Problem {
  const [message, own = {}] = SAMPLES[code] ?? [`${PROBLEMS[code].title}.`];
  const status = STATUS_OF[PROBLEMS[code].status] ?? "invalid";
  const outcome = code === "outcome_unknown" ? "unknown" : "not_executed";
  const text = detailOf(extra.errors) ?? message;
  const refusal = new Refusal({ code, status, message: text, outcome, ...own, ...extra });
  const problem = problemOf(refusal, facts);
  if (problem.code !== code) throw new Error(`the sample of ${code} is answered as ${problem.code}`);
  return problem;
}

function detailOf(errors: readonly FieldError[] = []): string | undefined {
  return errors.length === 0 ? undefined : `1 field is invalid: ${errors[0]?.message ?? ""}`;
}
