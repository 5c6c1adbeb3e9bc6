import type { ProblemCode } from "../../../../services/edge/problems/problems.ts";

const ACCOUNT_STATE =
  "Read the subscriptions of the Investor (`GET /info/subscriptions`), then decide whether the request is still needed.";
const FROM_DIRECTORY =
  "Take the login or id from the answer of the creation, or from the directory. A login is text, an id is a number.";
const OPERATORS = "Ask the operator, and quote the `request_id`.";

/** What a caller does about a code. A code without an entry is advised by its kind. */
const ADVICE: Partial<Record<ProblemCode, string>> = {
  bad_request:
    "Look at the bytes that were sent: usually a proxy or a hand-written client has broken the request line or a header.",
  malformed_json: "Send the body through a JSON library. The request was not executed.",
  unauthorized:
    "Check that the header is `Authorization: Bearer <API key>`, that the key is of this environment (`live` or `test`), has not expired, and may be used from your address. An earlier attempt with the same `Idempotency-Key` may have been executed: repeat it with a valid key.",
  insufficient_scope: "Use a key with `required_scope`, or have the operator create one.",
  route_not_found: "Compare method and path with the reference. All routes begin with `/api/v1`.",
  master_not_found: FROM_DIRECTORY,
  investor_not_found: FROM_DIRECTORY,
  subscription_not_found:
    "Check both logins. `GET /info/subscriptions?investor_login=` lists all subscriptions of an Investor.",
  fee_configuration_not_found: "Create one with `POST /investor/perf-fee/update`, or send `perf_fee` with the assign.",
  fee_run_not_found: "Take the id from `GET /perf-fee/runs`, or from a payment.",
  fee_payment_not_found: "Take the id from `GET /perf-fee/master/{master_login}/investor-payments`.",
  operation_not_found:
    "Ten seconds after a deposit, withdrawal, assign or unassign, this proves that it was not executed and will not be. For other requests it proves nothing.",
  operation_removed:
    "The ledger does not know the outcome. Compare your records with the deal history of the trading platform.",
  events_removed:
    "You were away for longer than events are kept. Read the present state of your accounts (directories, subscriptions, operations), then go on without `after`.",
  webhook_not_found: "`GET /webhooks` lists those of the client of this key.",
  too_many_webhooks: "Delete a webhook that is not used, or send several programs what one receives.",
  webhooks_not_set_up: "Ask the operator to set `PAMM_WEBHOOK_KEY`, and read `GET /events` until then.",
  method_not_allowed: "Use a method of the header `Allow`.",
  request_timeout: "Send the whole request within ten seconds, under the same `Idempotency-Key`.",
  login_already_registered: "Nothing is left to do: the account is registered. Read it with `GET`.",
  external_id_in_use:
    "Nothing was created or changed. `GET /investors?external_id=` or `GET /masters?external_id=` shows the account that has it. When it is the account that you wanted, use it; otherwise send another `external_id`.",
  login_in_use: "Register another account: one login has one role.",
  payment_account_in_use: "Use a payment account of its own for each Master.",
  payment_account_has_open_positions:
    "Close the positions of the payment account on the trading platform, or use another account, then repeat the request.",
  below_min_deposit: "Deposit the difference between `required` and `actual`, then assign again.",
  investor_has_open_positions:
    "Close the positions of the Investor's account on the trading platform, then repeat the request.",
  already_subscribed: ACCOUNT_STATE,
  investor_previously_subscribed: "This system permits one subscription per Investor. Create another Investor account.",
  exit_in_progress:
    "Wait until the subscription is CANCELLED (`GET /info/subscriptions?investor_login=&wait=30`), then repeat the request.",
  subscription_not_active: ACCOUNT_STATE,
  fees_in_progress: "Fees are paid within seconds. Repeat the request a little later.",
  master_closed: "A closed Master is not opened again. Create another one.",
  master_not_accepting:
    "Assign the Investor to another Master. `GET /master/{master_id}/profile` shows the state of this one. With `lacks_money` operators have been alerted; repeat it when they have decided.",
  master_open_positions:
    "Wait until the Master has closed its positions, then repeat the request. A withdrawal or an unassign waits for you with [`on_blocked=queue`](integrate/pools.md#wait-until-the-master-is-flat).",
  allocation_in_progress: "Repeat the request after the seconds in `Retry-After`, under the same `Idempotency-Key`.",
  account_archived:
    "Ask the broker to restore the account, then repeat under another `Idempotency-Key`; within five minutes after that it works again. An Investor who has left for good can be unassigned without it.",
  account_busy:
    "Repeat the request after the seconds in `Retry-After` (30 for `outcome_unknown`), under the same `Idempotency-Key`. Send commands of one Investor one after the other.",
  operation_in_progress:
    "Do not send the request under another key. Read `GET /operations/{operation_id}?wait=30`, or repeat it under the same `Idempotency-Key` after `Retry-After`.",
  operation_not_cancellable: "Read `GET /operations/{operation_id}`: it shows what became of the operation.",
  too_many_scheduled_versions:
    "Cancel the scheduled version first, or send its start in `effective_since` to replace it.",
  investor_not_closed:
    "`errors` has every reason: `subscription_open`, `balance_not_zero`, `credit_not_zero`, `open_positions`, `operation_open`. Repeat the request when none is left.",
  too_many_queued: "Cancel a withdrawal that waits (`DELETE /operations/{operation_id}`), or repeat the request later.",
  cancelled: "The operation is over. Send a new one under another `Idempotency-Key` when it is still wanted.",
  expired: "The operation is over. Send a new one under another `Idempotency-Key` when it is still wanted.",
  possible_duplicate:
    "Compare the deal `deal_id` with your order. When it is the same order, take the deal as its result, without `deal_id` repeat the request; otherwise send it with a `comment` of its own, under another `Idempotency-Key`.",
  insufficient_funds: "Read the balance (`GET /info/balance/{mt5_login}`) and request a smaller amount.",
  investor_deficit: "An operator has to compensate the deficit first; then repeat the request.",
  review_decided: "Read the review again: the decision is final.",
  action_not_possible: "Choose one of `actions`.",
  second_approver_required: "Let a key of another owner confirm the same action.",
  decision_differs: "Confirm `proposed_action`, or have the proposal withdrawn first.",
  conflict: "Read the subject of the request again, then decide whether it is still needed.",
  body_too_large: "Send at most 64 KiB.",
  url_too_long: "Shorten the query, usually the `comment` or `cursor`.",
  unsupported_media_type: "Send `Content-Type: application/json`.",
  expectation_failed: "Leave the header Expect out, or send `100-continue`.",
  validation_failed: "Correct all fields of `errors` and send the request again.",
  invalid_cursor:
    "Begin at the first page: a cursor belongs to one route and one set of filters, its item may be one that a restore of the database has lost, and an `after` is the id of an event that this system has had.",
  amount_precision: "Round in your own system and send at most two decimals: amounts are never rounded here.",
  currency_not_supported:
    "Send `USD`, or leave the parameter out. For an account, let the broker open one in a group in USD with two digits.",
  group_not_allowed: "Use a group of the operator's list.",
  platform_account_not_found:
    "Check the login on the trading platform, or create the account with the route that creates it.",
  payment_account_equals_master: "Name another account as payment account.",
  idempotency_key_reused:
    "The key belongs to the request of `operation_id`. Without `not_executed`, repeat that one unchanged before you send anything under another key; a deposit, withdrawal, assign or unassign is also at `GET /operations/{operation_id}`. Make a new key for each new request.",
  rate_limited: "Wait for the seconds in `Retry-After`, then repeat under the same `Idempotency-Key`, and slow down.",
  headers_too_large: "Send fewer or shorter headers, often cookies that are not needed.",
  internal_error: `${OPERATORS} Without \`outcome\` an earlier attempt may have been executed: repeat a command only under the same \`Idempotency-Key\`.`,
  platform_rejected: `The trading platform has refused for the reason \`platform_code\`. ${OPERATORS}`,
  platform_unavailable: "Repeat the request after the seconds in `Retry-After`, under the same `Idempotency-Key`.",
  service_unavailable: "Repeat the request after the seconds in `Retry-After`, under the same `Idempotency-Key`.",
  safety_stop:
    "Wait for the operators, who have been alerted and decide a review: [stopped Masters](integrate/pools.md#stopped-masters). Repeating does not help before.",
  login_range_exhausted: OPERATORS,
  outcome_unknown:
    "Do not send the request under another key. Read `GET /operations/{operation_id}?wait=30` until the outcome is final, or repeat the request under the same `Idempotency-Key`: it is executed at most once. `detail` names the way that the route has; [after a 504](integrate/money.md#after-a-504) has every step.",
};

export function adviceOn(code: ProblemCode, status: number, isRetryable: boolean): string {
  const own = ADVICE[code];
  if (own !== undefined) return own;
  if (isRetryable) return "Repeat the request after the seconds in `Retry-After`, under the same `Idempotency-Key`.";
  if (status === 409) return "The present state blocks the request. Repeat it when the cause is gone.";
  if (status >= 500) return OPERATORS;
  return "Correct the request: it fails in the same way when it is repeated.";
}
