import { type Subscription, SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { nullableTimestamp, timestamp } from "../../wire/timestamp.ts";
import { bool, model, setOf } from "../../fields/field.ts";
import { idReply, investorLoginReply, masterLoginReply, nullableTimeReply, timeReply } from "./reply-fields.ts";

export const subscriptionStatus = setOf("SubscriptionStatus", "Status of a subscription.", {
  ACTIVE: "The Investor follows the Master.",
  PAUSED: "The Investor is leaving: an exit is in progress. Poll; do not send another command.",
  CANCELLED: "The Investor has left. This is final; a new assign makes a new subscription.",
});

type Status = (typeof subscriptionStatus.values)[number];

const statusReply = subscriptionStatus.of("Status of the subscription.", "ACTIVE");
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

export const NewSubscription = model("NewSubscription", "The subscription that an assignment has begun.", {
  id: subscriptionId,
  master_id: idReply("Internal id of the Master.", 7),
  investor_id: idReply("Internal id of the Investor.", 8),
  status: statusReply,
  in_pool: inPoolReply,
  started_at: startedAtReply,
  balance_baseline_op_id: idReply("Id of the movement at which the baseline was taken.", 41),
  ended_at: endedAtReply,
  created_at: timeReply("When the subscription was recorded."),
});

const NAME_OF: Readonly<Record<SubscriptionStatus, Status | undefined>> = {
  [SubscriptionStatus.UNSPECIFIED]: undefined,
  [SubscriptionStatus.ACTIVE]: "ACTIVE",
  [SubscriptionStatus.PAUSED]: "PAUSED",
  [SubscriptionStatus.CANCELLED]: "CANCELLED",
};

function statusName(value: SubscriptionStatus): Status {
  const name = NAME_OF[value];
  if (name === undefined) throw new TypeError("a subscription without a status");
  return name;
}

export function statusOf(name: Status | undefined): SubscriptionStatus {
  return name === undefined ? SubscriptionStatus.UNSPECIFIED : SubscriptionStatus[name];
}

/** The fields that every reply about a subscription has. */
export function subscriptionFields({ id, status: state, inPool, startedAt, endedAt }: Subscription) {
  return {
    id,
    status: statusName(state),
    in_pool: inPool,
    started_at: timestamp(startedAt),
    ended_at: nullableTimestamp(endedAt),
  };
}
