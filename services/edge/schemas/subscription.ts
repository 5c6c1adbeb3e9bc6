import { type Subscription, SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { nullableTimestamp, timestamp } from "../wire/timestamp.ts";
import { bool } from "./field.ts";
import { idReply, loginReply, nullableTimeReply, timeReply } from "./reply-fields.ts";
import { status } from "./request-fields.ts";

type Status = "ACTIVE" | "PAUSED" | "CANCELLED";

export const subscriptionIdReply = idReply("Id of the subscription.");
export const statusReply = status;
export const inPoolReply = bool({
  description: "Whether the Investor's capital is in the Master's pool.",
  example: true,
});
export const startedAtReply = timeReply("When the subscription began.");
export const endedAtReply = nullableTimeReply("When the subscription was cancelled; null until then.");
export const masterLoginReply = loginReply("Trading login of the Master.");
export const investorLoginReply = loginReply("Login of the Investor.");

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
