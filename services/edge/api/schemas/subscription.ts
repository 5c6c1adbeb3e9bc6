import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { bool, byCode, model, named, read, setOf } from "../../fields/field.ts";
import { nested, or, within } from "../../fields/message.ts";
import {
  idReply,
  investorLoginReply,
  masterLoginReply,
  nullableTimeReply,
  timeReply,
} from "../../fields/reply-fields.ts";
import { enabled, rate } from "./request-fields.ts";

export const subscriptionStatus = setOf("SubscriptionStatus", "Status of a subscription.", {
  ACTIVE: "The Investor follows the Master.",
  PAUSED: "The Investor is leaving: an exit is in progress. Poll; do not send another command.",
  CANCELLED: "The Investor has left. This is final; a new assign makes a new subscription.",
});

type Status = (typeof subscriptionStatus.values)[number];

const statusReply = named(
  subscriptionStatus.of("Status of the subscription.", "ACTIVE"),
  byCode(subscriptionStatus.values, SubscriptionStatus),
);
const inPoolReply = bool({
  description: "Whether the Investor's capital is in the Master's pool.",
  example: true,
});
const startedAtReply = timeReply("When the subscription began.");
const endedAtReply = nullableTimeReply("When the subscription was cancelled; null until then.");

const subscriptionId = idReply("Id of the subscription.", 9);
const state = { status: statusReply, in_pool: inPoolReply, started_at: startedAtReply, ended_at: endedAtReply };
const logins = { master_login: masterLoginReply(), investor_login: investorLoginReply() };
const SUBSCRIPTION = ["Subscription", "An Investor follows a Master, or did."] as const;

export const SubscriptionItem = model(...SUBSCRIPTION, { id: subscriptionId, ...state, ...logins });
/** The same in the order in which the specification has it in the answer to an unassign. */
export const EndingSubscription = model(...SUBSCRIPTION, { id: subscriptionId, ...logins, ...state });

export const NewSubscription = model(
  "NewSubscription",
  "The subscription that an assignment has begun.",
  within("subscription", {
    id: subscriptionId,
    master_id: idReply("Internal id of the Master.", 7),
    investor_id: idReply("Internal id of the Investor.", 8),
    status: statusReply,
    in_pool: inPoolReply,
    started_at: startedAtReply,
    balance_baseline_op_id: idReply("Id of the movement at which the baseline was taken.", 41),
    ended_at: endedAtReply,
    created_at: timeReply("When the subscription was recorded."),
  }),
);

function statusOf(name: Status | undefined): SubscriptionStatus {
  return name === undefined ? SubscriptionStatus.UNSPECIFIED : SubscriptionStatus[name];
}

/** Without one, every status matches. */
export const statusFilter = or(
  read(subscriptionStatus.of("Only subscriptions with this status.", "ACTIVE"), statusOf),
  SubscriptionStatus.UNSPECIFIED,
);

export const perfFee = nested(
  { rate, enabled },
  { description: "Performance fee from the start of the subscription." },
);
