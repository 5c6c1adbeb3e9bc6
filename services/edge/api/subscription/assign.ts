import { bool, model } from "../../fields/field.ts";
import { always } from "../../fields/message.ts";
import { decimalReply, idReply, nullableDecimalReply } from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { blockingFields } from "../schemas/blocking.ts";
import { operationLabelFields } from "../schemas/labels.ts";
import { investorLogin, masterLogin } from "../schemas/request-fields.ts";
import { NewSubscription, perfFee, subscriptionStatus } from "../schemas/subscription.ts";

export const assignInvestor = route("POST /api/v1/investor/assign", {
  scope: "subscriptions:write",
  summary: "Assign an Investor to a Master",
  description:
    "The Investor's balance must be at least the Master's minimum deposit, and the Investor must have no open positions; from then on it may not trade, until it has left the pool. The capital reaches the Master within seconds.",
  returns: "The subscription.",
  body: {
    master_login: masterLogin,
    investor_login: investorLogin,
    perf_fee: perfFee,
    ...operationLabelFields,
  },
  reply: NewSubscription,
  refusals: [
    "master_not_found",
    "investor_not_found",
    "below_min_deposit",
    "investor_has_open_positions",
    "already_subscribed",
    "exit_in_progress",
    "master_not_accepting",
    "investor_previously_subscribed",
    "account_archived",
    "account_busy",
    "safety_stop",
    "platform_rejected",
    "platform_unavailable",
  ],

  call: ({ subscriptions }, { perfFee: { ratePpm, enabled }, ...request }, context) =>
    subscriptions.assign({ ...request, feeRatePpm: ratePpm, feeEnabled: enabled }, context),
});

export const previewAssignment = route("POST /api/v1/investor/assign/preview", {
  scope: "subscriptions:write",
  changesNothing: true,
  summary: "Preview an assignment",
  description:
    "Says what `POST /api/v1/investor/assign` with the same body would do now, and everything for which it would be refused. Nothing is executed, locked or recorded.",
  returns: "What the assignment would do.",
  body: {
    master_login: masterLogin,
    investor_login: investorLogin,
    perf_fee: perfFee,
  },
  reply: model("AssignmentPreview", "What an assignment would do now.", {
    ...blockingFields,
    master_id: idReply("Internal id of the Master.", 7),
    investor_id: idReply("Internal id of the Investor.", 8),
    status: always(subscriptionStatus.of("Status that the subscription would have.", "ACTIVE"), "ACTIVE"),
    in_pool: always(bool({ description: "Whether the capital would be in the Master's pool.", example: true }), true),
    balance: nullableDecimalReply("Balance that would join the pool; null while the account cannot be read."),
    min_deposit: decimalReply("Minimum deposit of the Master."),
  }),
  refusals: ["master_not_found", "investor_not_found"],

  call: ({ subscriptions }, { perfFee: { ratePpm }, ...pair }, context) =>
    subscriptions.previewAssign({ ...pair, feeRatePpm: ratePpm }, context),
});
