import { keyReused } from "#catalogue/key-refusals.ts";
import { SCOPES } from "../wire/scopes.ts";
import type { Entry, Sample } from "./entry.ts";

export const AN_OPERATION = "0198c0de-0000-7000-8000-000000000001";
const OTHER_OPERATION = "0198c0de-0000-7000-8000-000000000002";
const EXTERNAL_ID_IN_USE = "Another Investor has the external_id CRM-7001.";

const OPEN_POSITIONS = { open_positions: { description: "Number of open positions.", example: 2 } };
const STATE = "State of the fee version or the Master.";

const READ_SUBSCRIPTIONS =
  "Read the subscriptions of the Investor (`GET /info/subscriptions`), then decide whether the request is still needed.";
const FROM_DIRECTORY =
  "Take the login or id from the answer of the creation, or from the directory. A login is text, an id is a number.";
const ASK_OPERATORS = "Ask the operator, and quote the `request_id`.";
const CORRECT = "Correct the request: it fails in the same way when it is repeated.";
const AFTER_SOME_SECONDS = "Repeat the request after the seconds in `Retry-After`, under the same `Idempotency-Key`.";

function wrong(field: string, code: string, message: string): Sample {
  return { detail: `1 field is invalid: ${message}`, errors: [{ field, code, message }] };
}

/**
 * Every problem of this interface, by its status. Callers branch on the code, so its meaning never changes. Bodies, pages and the OpenAPI document have
 * their facts from here; the console shows bodies, and leads to pages.
 */
export const BY_STATUS = {
  400: {
    bad_request: {
      title: "The request is malformed",
      meaning: "The bytes are not an HTTP request.",
      advice:
        "Look at the bytes that were sent: usually a proxy or a hand-written client has broken the request line or a header.",
      sample: "The request is not valid HTTP/1.1.",
      answered: { at: "bytes", by: "all" },
    },
    malformed_json: {
      title: "The request body is not valid JSON",
      meaning: "The body is not JSON in UTF-8.",
      advice: "Send the body through a JSON library. The request was not executed.",
      sample: "The request body is not valid JSON in UTF-8.",
      answered: { at: "admission", by: "with_body" },
    },
  },
  401: {
    unauthorized: {
      title: "A valid API key is required",
      meaning: "The key is missing, unknown, expired, revoked or not allowed from this address; one body for all.",
      advice:
        "Check that the header is `Authorization: Bearer <API key>`, that the key is of this environment (`live` or `test`), has not expired, and may be used from your address. An earlier attempt with the same `Idempotency-Key` may have been executed: repeat it with a valid key.",
      sample: "A valid API key is required as a bearer token in the Authorization header.",
      header: "WWW-Authenticate",
      answered: { at: "key", by: "all" },
    },
  },
  403: {
    insufficient_scope: {
      title: "The API key lacks a scope",
      meaning: "The key lacks `required_scope`.",
      advice: "Use a key with `required_scope`, or have the operator create one.",
      sample: ({ scope }) => ({ detail: `The API key lacks the scope ${scope}.`, details: { required_scope: scope } }),
      members: {
        required_scope: { description: "A scope that is sufficient.", example: "funds:deposit", values: SCOPES },
      },
      answered: { at: "admission", by: "with_scope" },
    },
  },
  404: {
    route_not_found: {
      title: "Route not found",
      meaning: "There is no such path; also when a login or id in the path is empty.",
      advice: "Compare method and path with the reference. All routes begin with `/api/v1`.",
      sample: "Route GET /api/v1/info/balance/ does not exist.",
      answered: { at: "path", by: "with_path" },
    },
    master_not_found: {
      title: "Master not found",
      meaning: "No Master has this login or id.",
      advice: FROM_DIRECTORY,
      sample: ({ params: { master_id: id } }) =>
        id === undefined
          ? "No Master has the login 3000001."
          : `No Master has the id ${id}. This route takes the internal id, not the login.`,
    },
    investor_not_found: {
      title: "Investor not found",
      meaning: "No Investor has this login or id; also for the login of a Master.",
      advice: FROM_DIRECTORY,
      sample: "No Investor has the login 3000003.",
    },
    subscription_not_found: {
      title: "Subscription not found",
      meaning: "This Investor was never assigned to this Master.",
      advice: "Check both logins. `GET /info/subscriptions?investor_login=` lists all subscriptions of an Investor.",
      sample: "Investor 3000003 was never assigned to Master 3000001.",
    },
    fee_configuration_not_found: {
      title: "Fee configuration not found",
      meaning: "The Investor has no fee configuration.",
      advice: "Create one with `POST /investor/perf-fee/update`, or send `perf_fee` with the assign.",
      sample: "Investor 3000003 has no fee configuration.",
    },
    fee_version_not_found: {
      title: "Fee version not found",
      meaning: "The Investor has no fee version with this id.",
      advice: CORRECT,
      sample: "The Investor has no fee version 31.",
    },
    fee_payment_not_found: {
      title: "Fee payment not found",
      meaning: "There is no fee payment with this id.",
      advice: "Take the id from `GET /perf-fee/master/{master_login}/investor-payments`.",
      sample: "There is no fee payment 21.",
    },
    fee_run_not_found: {
      title: "Fee run not found",
      meaning: "There is no fee run with this id.",
      advice: "Take the id from `GET /perf-fee/runs`, or from a payment.",
      sample: "There is no fee run 12.",
    },
    operation_not_found: {
      title: "Operation not found",
      meaning: "The operation is not in the ledger.",
      advice:
        "Ten seconds after a deposit, withdrawal, assign or unassign, this proves that it was not executed and will not be. For other requests it proves nothing.",
      sample: ({ params: { operation_id: id = AN_OPERATION } }) =>
        `No deposit, withdrawal, assign or unassign has the id ${id}.`,
    },
    webhook_not_found: {
      title: "Webhook not found",
      meaning: "This client has no webhook with this id.",
      advice: "`GET /webhooks` lists those of the client of this key.",
      sample: "This client has no webhook 17.",
    },
    break_not_found: {
      title: "Break not found",
      meaning: "There is no such break, or it is closed.",
      advice: CORRECT,
      sample: "There is no open break platform-17.",
    },
    review_not_found: {
      title: "Review not found",
      meaning: "There is no such review.",
      advice: CORRECT,
      sample: "Review 17 does not exist.",
    },
    login_not_managed: {
      title: "The account is not managed by this service",
      meaning: "The account is neither a Master, an Investor nor a payment account here.",
      advice: CORRECT,
      sample: "Account 3000001 is not managed by this service.",
    },
  },
  405: {
    method_not_allowed: {
      title: "Method not allowed",
      meaning: "The path has no such method; the header `Allow` names those that it has.",
      advice: "Use a method of the header `Allow`.",
      sample: "Method DELETE is not allowed. Allowed: GET, PATCH, HEAD, OPTIONS.",
      header: "Allow",
      answered: { at: "path", by: "all" },
    },
  },
  408: {
    request_timeout: {
      title: "The request was not received in time",
      meaning: "The request arrived too slowly. Send it again.",
      retry: "Send the whole request within ten seconds, under the same `Idempotency-Key`.",
      sample: "The request was not received within 10 seconds.",
      answered: { at: "bytes", by: "all" },
    },
  },
  409: {
    login_already_registered: {
      title: "The login is already registered",
      meaning: "The account is registered already.",
      advice: "Nothing is left to do: the account is registered. Read it with `GET`.",
      sample: "Login 3000001 is already registered as a Master.",
    },
    login_in_use: {
      title: "The login is in use in another role",
      meaning: "The account has another role, or was registered by another request while it was being created.",
      advice: "Register another account: one login has one role.",
      sample: "Login 3000001 is in use: it is a payment account.",
    },
    payment_account_in_use: {
      title: "The payment account is already assigned",
      meaning: "The payment account belongs to another Master.",
      advice: "Use a payment account of its own for each Master.",
      sample: "Payment account 3000002 is already assigned to another Master.",
    },
    payment_account_has_open_positions: {
      title: "The payment account has open positions",
      meaning: "`open_positions` positions have to be closed first: a payment account never trades.",
      advice:
        "Close the positions of the payment account on the trading platform, or use another account, then repeat the request.",
      sample: "Account 3000002 has open positions: 2. A payment account never trades: close them first.",
      members: OPEN_POSITIONS,
    },
    below_min_deposit: {
      title: "The balance is below the minimum deposit",
      meaning: "`actual` is below `required`, the minimum deposit of the Master.",
      advice: "Deposit the difference between `required` and `actual`, then assign again.",
      sample: "Investor balance 0.00 USD is below the Master's minimum deposit of 500.00 USD.",
      members: {
        required: { description: "Minimum deposit of the Master in USD, two decimals.", example: "500.00" },
        actual: { description: "Balance or amount in USD, two decimals.", example: "0.00" },
      },
    },
    investor_has_open_positions: {
      title: "The Investor has open positions",
      meaning: "`open_positions` positions of the Investor have to be closed first.",
      advice: "Close the positions of the Investor's account on the trading platform, then repeat the request.",
      sample: "The Investor has open positions: 2. Close them first.",
      members: OPEN_POSITIONS,
    },
    already_subscribed: {
      title: "The Investor already has a subscription",
      meaning: "The Investor has an active subscription.",
      advice: READ_SUBSCRIPTIONS,
      sample: "Investor 3000003 already has an active subscription (id 9) to Master 3000001.",
    },
    investor_previously_subscribed: {
      title: "The Investor was subscribed before",
      meaning: "The Investor had a subscription before, and this system allows one.",
      advice: "This system permits one subscription per Investor. Create another Investor account.",
      sample: "The Investor already had a subscription. Only one per Investor is allowed.",
    },
    exit_in_progress: {
      title: "An exit is already in progress",
      meaning: "The Investor is leaving (PAUSED).",
      advice:
        "Wait until the subscription is CANCELLED (`GET /info/subscriptions?investor_login=&wait=30`), then repeat the request.",
      sample: "The subscription of Investor 3000003 to Master 3000001 is already ending (subscription id 9).",
    },
    subscription_not_active: {
      title: "The subscription is not active",
      meaning: "The subscription is CANCELLED.",
      advice: READ_SUBSCRIPTIONS,
      sample: "The subscription of Investor 3000003 to Master 3000001 has ended (subscription id 9).",
    },
    fees_in_progress: {
      title: "Performance fees of the Master are being collected",
      meaning: "`open_payments` performance fees of the Master are on their way to its payment account.",
      advice: "Fees are paid within seconds. Repeat the request a little later.",
      sample: "Performance fees of Master 3000001 are being collected: 2. Retry when they are paid.",
      members: { open_payments: { description: "Number of fees on their way.", example: 2 } },
    },
    master_closed: {
      title: "The Master is closed",
      meaning: "The Master is being closed or is archived: its `state`.",
      advice: "A closed Master is not opened again. Create another one.",
      sample: "Master 3000001 is archived.",
      members: { state: { description: STATE, example: "archived" } },
    },
    master_not_accepting: {
      title: "The Master does not accept Investors",
      meaning:
        "The Master accepts no new Investors; `state` is its state, or `lacks_money` while its own capital is below zero.",
      advice:
        "Assign the Investor to another Master. `GET /master/{master_id}/profile` shows the state of this one. With `lacks_money` operators have been alerted; repeat it when they have decided.",
      sample: "Master 3000001 does not accept new Investors now.",
      members: { state: { description: STATE, example: "not_accepting" } },
    },
    master_open_positions: {
      title: "The Master has open positions",
      meaning: "`open_positions` positions of the Master block a withdrawal, an exit or its closing.",
      advice:
        "Wait until the Master has closed its positions, then repeat the request. A withdrawal or an unassign waits for you with [`on_blocked=queue`](integrate/pools.md#wait-until-the-master-is-flat).",
      sample: "The Master has open positions: 2. Retry when they are closed.",
      members: OPEN_POSITIONS,
    },
    allocation_in_progress: {
      title: "Trading results are being allocated",
      meaning: "Results of the Master are being allocated. Retry after the time in `Retry-After`.",
      retry: AFTER_SOME_SECONDS,
      sample:
        "The Master's latest deals are still being allocated to its Investors, which takes seconds. Nothing was executed. Send the request again in a second.",
    },
    account_archived: {
      title: "The broker has archived or deleted the account",
      meaning:
        "The trading platform does not show account `mt5_login`, which has no money: the broker has archived or deleted it. It ends when the broker restores the account.",
      advice:
        "Ask the broker to restore the account, then repeat under another `Idempotency-Key`; within five minutes after that it works again. An Investor who has left for good can be unassigned without it.",
      sample:
        "The trading platform does not show account 3000003 any more: the broker has archived or deleted it. Nothing was executed. It ends by itself when the broker restores the account.",
      members: {
        mt5_login: { description: "Login of the account that exists, or that is archived.", example: "3000003" },
      },
    },
    account_busy: {
      title: "Another operation on this account is in progress",
      meaning:
        "Another command on this Investor took longer than 5 s, the outcome of one is being determined (`reason` is `outcome_unknown`, and it takes minutes), or its history cannot be read completely at the moment. Retry after the time in `Retry-After`.",
      retry:
        "Repeat the request after the seconds in `Retry-After` (30 for `outcome_unknown`), under the same `Idempotency-Key`. Send commands of one Investor one after the other.",
      sample: {
        detail:
          "Another operation on this account is in progress, and this one waited 5 seconds for its end. Nothing was executed. Send the request again in a second.",
        operationId: OTHER_OPERATION,
        details: {},
      },
      members: {
        reason: {
          description: "`outcome_unknown`: the outcome of an earlier operation on the account is being determined.",
          example: "outcome_unknown",
          optional: true,
        },
      },
    },
    operation_in_progress: {
      title: "An identical operation is still being processed",
      meaning: "An equal request is unresolved; `operation_id` names it.",
      poll: "Do not send the request under another key. Read `GET /operations/{operation_id}?wait=30`, or repeat it under the same `Idempotency-Key` after `Retry-After`.",
      sample: {
        detail: `An identical operation is still being processed (${OTHER_OPERATION}).`,
        operationId: OTHER_OPERATION,
        outcome: "unknown",
      },
      answered: { at: "route", by: "commands" },
    },
    operation_not_cancellable: {
      title: "The operation does not wait",
      meaning: "The operation was never queued, has begun or has ended; only one that waits is cancelled.",
      advice: "Read `GET /operations/{operation_id}`: it shows what became of the operation.",
      sample: ({ params: { operation_id: id } }) => ({
        detail: "The operation does not wait: it was never queued, has begun or has ended.",
        operationId: id ?? OTHER_OPERATION,
      }),
    },
    too_many_queued: {
      title: "Too many withdrawals of the Investor wait",
      meaning: "20 withdrawals of the Investor wait until its Master is flat.",
      advice: "Cancel a withdrawal that waits (`DELETE /operations/{operation_id}`), or repeat the request later.",
      sample: "The Investor has 20 withdrawals that wait. Cancel one, or retry when the Master is flat.",
    },
    cancelled: {
      title: "The operation was cancelled",
      meaning: "The operation waited until its Master is flat, and was cancelled. Nothing was executed.",
      advice: "The operation is over. Send a new one under another `Idempotency-Key` when it is still wanted.",
      sample: {
        detail: "The operation was cancelled while it waited. Nothing was executed.",
        operationId: OTHER_OPERATION,
      },
    },
    expired: {
      title: "The operation has expired",
      meaning: "The operation waited until its Master is flat for as long as it was allowed to. Nothing was executed.",
      advice: "The operation is over. Send a new one under another `Idempotency-Key` when it is still wanted.",
      sample: {
        detail: "The operation has expired: the Master was not flat in time. Nothing was executed.",
        operationId: OTHER_OPERATION,
      },
    },
    possible_duplicate: {
      title: "An identical operation was executed recently",
      meaning:
        "An equal request was executed, `deal_id`: within 24 hours, for keys that reject duplicates; or before a restore of the database.",
      advice:
        "Compare the deal `deal_id` with your order. When it is the same order, take the deal as its result, without `deal_id` repeat the request; otherwise send it with a `comment` of its own, under another `Idempotency-Key`.",
      sample: {
        detail: "An identical operation was executed within the last 24 hours (deal 1234567).",
        operationId: OTHER_OPERATION,
      },
      members: { deal_id: { description: "Ticket of the executed deal.", example: 1234567, optional: true } },
    },
    external_id_in_use: {
      title: "The external_id is in use",
      meaning: "Another account of the same role has this `external_id`.",
      advice:
        "Nothing was created or changed. `GET /investors?external_id=` or `GET /masters?external_id=` shows the account that has it. When it is the account that you wanted, use it; otherwise send another `external_id`.",
      sample: {
        detail: EXTERNAL_ID_IN_USE,
        errors: [{ field: "external_id", code: "external_id_in_use", message: EXTERNAL_ID_IN_USE }],
      },
    },
    investor_not_closed: {
      title: "The Investor is not closed",
      meaning: "The Investor still has a subscription, money, open positions or an operation in progress.",
      advice:
        "`errors` has every reason: `subscription_open`, `balance_not_zero`, `credit_not_zero`, `open_positions`, `operation_open`. Repeat the request when none is left.",
      sample: {
        detail: "Investor 3000003 is not closed (balance_not_zero).",
        errors: [{ field: "investor_login", code: "balance_not_zero", message: "The balance is 12.50 USD." }],
      },
    },
    investor_erased: {
      title: "The personal data of the Investor was erased",
      meaning: "The personal data of the Investor was erased, so the request cannot be repeated.",
      advice: "Nothing is left to do: the data is gone for good. Create another Investor account where one is needed.",
      sample: "The personal data of Investor 3000003 was erased; it cannot be changed any more.",
    },
    insufficient_funds: {
      title: "Insufficient funds",
      meaning: "The platform refused for lack of money.",
      advice: "Read the balance (`GET /info/balance/{mt5_login}`) and request a smaller amount.",
      sample: "The account's free funds are below the requested amount.",
    },
    investor_deficit: {
      title: "The Investor's share of the pool is negative",
      meaning: "The Investor's share of the pool is negative.",
      advice: "An operator has to compensate the deficit first; then repeat the request.",
      sample:
        "The Investor's share of the pool is -3.21 USD. A compensation of the broker, or a decision of operators, has to cover it first.",
    },
    fee_version_not_scheduled: {
      title: "The fee version is not scheduled any more",
      meaning: "The version has begun or was cancelled; `state` is its state.",
      advice: "Read the fee configuration of the Investor: the version has begun, or was cancelled before.",
      sample: "The fee version is not scheduled any more.",
      members: { state: { description: STATE, example: "in_force" } },
    },
    too_many_scheduled_versions: {
      title: "Too many fee versions are scheduled",
      meaning: "The Investor has as many scheduled versions as it may have.",
      advice: "Cancel the scheduled version first, or send its start in `effective_since` to replace it.",
      sample:
        "Fee version 31 is scheduled for this Investor already, from 2026-02-01T00:00:00.000Z. Cancel it first, or send its start to replace it.",
    },
    too_many_webhooks: {
      title: "The client has as many webhooks as it may have",
      meaning: "The client has 10 webhooks. Delete one first.",
      advice: "Delete a webhook that is not used, or send several programs what one receives.",
      sample: "A client may have 10 webhooks. Delete one first.",
    },
    review_decided: {
      title: "The review is already decided",
      meaning: "The review was decided before.",
      advice: "Read the review again: the decision is final.",
      sample: "Review platform-17 is already decided.",
    },
    action_not_possible: {
      title: "This action is not available now",
      meaning: "The action is not available now; those in `actions` are.",
      advice: "Choose one of `actions`.",
      sample: "Action 'resume' is not available now. Available: reverse, acknowledge.",
      members: {
        actions: {
          description: "Names of the possible actions, separated by a comma and a space.",
          example: "reverse, acknowledge",
          optional: true,
        },
      },
    },
    second_approver_required: {
      title: "Approval by a second owner of an API key is required",
      meaning: "The proposal needs the confirmation of another owner of an API key.",
      advice: "Let a key of another owner confirm the same action.",
      sample:
        "Action 'confirm_applied' was proposed by 'anna', the owner of this API key. Approval with a key of another owner is required.",
    },
    decision_differs: {
      title: "A different action is already proposed",
      meaning: "Another action is proposed: `proposed_action`, `proposed_deal_id`, `proposed_by`.",
      advice: "Confirm `proposed_action`, or have the proposal withdrawn first.",
      sample:
        "Action 'confirm_not_applied' is already proposed. Approve it by proposing the same, or send withdraw_proposal first.",
      members: {
        proposed_action: { description: "The proposed action.", example: "confirm_not_applied" },
        proposed_deal_id: { description: "Ticket of the proposal; 0 without one.", example: "0" },
        proposed_by: { description: "Owner of the API key that proposed it.", example: "anna" },
      },
    },
    safety_stop: {
      title: "Operations are suspended pending manual review",
      meaning: "The account, the Master or everything is stopped until operators decide.",
      advice:
        "Wait for the operators, who have been alerted and decide a review: [stopped Masters](integrate/pools.md#stopped-masters). Repeating does not help before.",
      sample: "Operations on Master 3000001 are suspended pending manual review.",
    },
    webhooks_not_set_up: {
      title: "Webhooks are not set up on this system",
      meaning: "The operator has not set the key that protects the secrets of webhooks.",
      advice: "Ask the operator to set `PAMM_WEBHOOK_KEY`, and read `GET /events` until then.",
      sample: "The operator has not set PAMM_WEBHOOK_KEY, which protects the secrets of webhooks.",
    },
    login_range_exhausted: {
      title: "No login is left in the range for new accounts",
      meaning: "No login is left for new accounts; an operator has to extend the range.",
      advice: ASK_OPERATORS,
      sample: "No login is left in MT5_LOGIN_RANGE. An operator must extend the range.",
    },
    conflict: {
      title: "Conflict with the current state",
      meaning: "A conflict with the current state that has no code of its own.",
      advice: "Read the subject of the request again, then decide whether it is still needed.",
      sample: "Another request changed this at the same time.",
      answered: { at: "route", by: "commands" },
    },
  },
  410: {
    operation_removed: {
      title: "Operations of this age are removed",
      meaning: "The operation is not in the ledger, and so old that it may have been removed.",
      advice:
        "The ledger does not know the outcome. Compare your records with the deal history of the trading platform.",
      sample:
        "Deposits and withdrawals of this age are not kept any more. That this one is not found proves nothing about it.",
    },
    events_removed: {
      title: "Events of this age are removed",
      meaning: "Events after the given one may be removed: `removed_through` is the highest id that is.",
      advice:
        "You were away for longer than events are kept. Read the present state of your accounts (directories, subscriptions, operations), then go on without `after`.",
      sample:
        "Events up to 900 are not kept any more, so events after the given one may be missing. Read the state of what you follow, then go on without `after`.",
      members: { removed_through: { description: "Highest id of an event that may be removed.", example: 900 } },
    },
  },
  413: {
    body_too_large: {
      title: "The request body is too large",
      meaning: "The body is larger than 64 KiB.",
      advice: "Send at most 64 KiB.",
      sample: "The request body is too large.",
      answered: { at: "admission", by: "commands" },
    },
  },
  414: {
    url_too_long: {
      title: "The URL is too long",
      meaning: "The URL is longer than 8 KiB.",
      advice: "Shorten the query, usually the `comment` or `cursor`.",
      sample: "The URL is longer than 8192 characters.",
      answered: { at: "head", by: "all" },
    },
  },
  415: {
    unsupported_media_type: {
      title: "The request body must be application/json",
      meaning: "The body has to be `application/json`, without Content-Encoding.",
      advice: "Send `Content-Type: application/json`.",
      sample: "The request body must be application/json.",
      answered: { at: "admission", by: "with_body" },
    },
  },
  417: {
    expectation_failed: {
      title: "The expectation is not supported",
      meaning: "The header Expect has another expectation than `100-continue`.",
      advice: "Leave the header Expect out, or send `100-continue`.",
      sample: "The only expectation that the header Expect may have is 100-continue.",
      answered: { at: "head", by: "all" },
    },
  },
  422: {
    validation_failed: {
      title: "The request is invalid",
      meaning: "The request is wrong in itself; `errors` names every wrong field.",
      advice: "Correct all fields of `errors` and send the request again.",
      sample: wrong("trace", "duplicate", "trace must be given once."),
      answered: { at: "route", by: "all" },
    },
    invalid_cursor: {
      title: "The cursor is invalid",
      meaning: "The cursor is of another route, filter or system.",
      advice:
        "Begin at the first page: a cursor belongs to one route and one set of filters, its item may be one that a restore of the database has lost, and an `after` is the id of an event that this system has had.",
      sample: wrong(
        "cursor",
        "invalid_cursor",
        "cursor must be the next_cursor of the same list with the same filter.",
      ),
      answered: { at: "route", by: ["cursor", "after"] },
    },
    amount_precision: {
      title: "The amount has more than two decimals",
      meaning: "An amount has more than two decimals.",
      advice: "Round in your own system and send at most two decimals: amounts are never rounded here.",
      sample: wrong("amount", "amount_precision", "amount must have at most two decimals."),
      answered: { at: "route", by: ["amount", "min_deposit"] },
    },
    currency_not_supported: {
      title: "Only USD with two digits is supported",
      meaning:
        "The only currency is USD. Of an account: its `group` on the trading platform is in `currency` with `digits` digits, and must be in USD with 2.",
      advice:
        "Send `USD`, or leave the parameter out. For an account, let the broker open one in a group in USD with two digits.",
      sample:
        "Group real\\cent of the trading platform is in USC with 2 digits. Accounts must be in USD with 2 digits.",
      members: {
        group: { description: "Group of the account on the trading platform.", example: "real\\cent", optional: true },
        currency: { description: "Currency of the group.", example: "USC", optional: true },
        digits: { description: "Digits of the group's amounts.", example: "2", optional: true },
      },
      answered: { at: "route", by: ["currency"] },
    },
    group_not_allowed: {
      title: "The platform group is not allowed",
      meaning: "The platform group is not on the operator's list for this role.",
      advice: "Use a group of the operator's list.",
      sample: "Group 'other' is not allowed for this role.",
    },
    platform_account_not_found: {
      title: "The account does not exist on the trading platform",
      meaning: "The account to register does not exist on the platform.",
      advice: "Check the login on the trading platform, or create the account with the route that creates it.",
      sample: "The trading platform does not show account 3000001.",
    },
    payment_account_equals_master: {
      title: "The payment account must differ from the trading account",
      meaning: "The payment account must differ from the trading account.",
      advice: "Name another account as payment account.",
      sample: "The payment account must differ from the trading account.",
    },
    idempotency_key_reused: {
      title: "The Idempotency-Key was used for another request",
      meaning: "The Idempotency-Key was used for another request, which may have been executed.",
      advice:
        "The key belongs to the request of `operation_id`. Without `not_executed`, repeat that one unchanged before you send anything under another key; a deposit, withdrawal, assign or unassign is also at `GET /operations/{operation_id}`. Make a new key for each new request.",
      sample: {
        detail: keyReused(OTHER_OPERATION, "unknown").message,
        operationId: OTHER_OPERATION,
        outcome: "unknown",
      },
      answered: { at: "route", by: "commands" },
    },
  },
  429: {
    rate_limited: {
      title: "Too many requests",
      meaning: "Too many requests. Retry after the time in `Retry-After`.",
      retry: "Wait for the seconds in `Retry-After`, then repeat under the same `Idempotency-Key`, and slow down.",
      sample:
        "This client has sent more requests than it may at this rate, by this API key and those that it has replaced. Send the request again after the time in Retry-After.",
      answered: { at: "admission", by: "all" },
    },
  },
  431: {
    headers_too_large: {
      title: "The request headers are too large",
      meaning: "The headers are larger than 32 KiB.",
      advice: "Send fewer or shorter headers, often cookies that are not needed.",
      sample: "The request headers are longer than 32768 bytes.",
      answered: { at: "bytes", by: "all" },
    },
  },
  500: {
    internal_error: {
      title: "Internal error",
      meaning: "A fault of the service. Quote the `request_id` when you report it.",
      advice: `${ASK_OPERATORS} Without \`outcome\` an earlier attempt may have been executed: repeat a command only under the same \`Idempotency-Key\`.`,
      detail: "The fault was logged. Quote the request_id when you report it.",
      answered: { at: "admission", by: "all" },
    },
  },
  502: {
    platform_rejected: {
      title: "The trading platform rejected the operation",
      meaning: "The platform refused with `platform_code`.",
      advice: `The trading platform has refused for the reason \`platform_code\`. ${ASK_OPERATORS}`,
      sample: "The trading platform refused the operation with code 10006.",
      members: { platform_code: { description: "Return code of the platform.", example: 10006, optional: true } },
    },
  },
  503: {
    platform_unavailable: {
      title: "The trading platform cannot be reached",
      meaning: "The platform did not act. Retry after the time in `Retry-After`.",
      retry: AFTER_SOME_SECONDS,
      sample: "The trading platform cannot be reached. Nothing was executed.",
    },
    service_unavailable: {
      title: "A required service cannot be reached",
      meaning: "A service did not act. Retry after the time in `Retry-After`.",
      retry: AFTER_SOME_SECONDS,
      detail:
        "A part of the service cannot be reached, or works on as many requests as it may. This request was not executed. Send it again after the time in Retry-After.",
      answered: { at: "route", by: "all" },
    },
  },
  504: {
    outcome_unknown: {
      title: "The outcome is unknown",
      meaning:
        "The command may have been executed, or may still be. Look up `operation_id`, or repeat the request with the same Idempotency-Key.",
      advice:
        "Do not send the request under another key. Read `GET /operations/{operation_id}?wait=30` until the outcome is final, or repeat the request under the same `Idempotency-Key`: it is executed at most once. `detail` names the way that the route has; [after a 504](integrate/money.md#after-a-504) has every step.",
      detail: (lookUp) => `The command may have been executed, or may still be. ${lookUp}`,
      answered: { at: "route", by: "commands" },
    },
  },
} satisfies Readonly<Record<number, Readonly<Record<string, Entry>>>>;

type ByStatus = typeof BY_STATUS;
export type ProblemCode = { [Status in keyof ByStatus]: keyof ByStatus[Status] }[keyof ByStatus];

/** In the order of their status. */
export const PROBLEMS = Object.fromEntries(
  Object.entries(BY_STATUS).flatMap(([status, entries]) =>
    Object.entries(entries).map(([code, entry]) => [code, { ...entry, status: Number(status) }]),
  ),
) as Readonly<Record<ProblemCode, Entry & { readonly status: number }>>;

export const CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

/** What each code means, for the set of codes. */
export const MEANINGS = Object.fromEntries(CODES.map((code) => [code, PROBLEMS[code].meaning])) as Readonly<
  Record<ProblemCode, string>
>;

/** The page that explains the code, on every installation: a full path, because the service does not know by which names clients reach it. */
export function problemType(code: string): string {
  return `/docs/problems/${code}`;
}

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}
