import { moneyToProto } from "#kernel/contract/money.ts";
import { keyOf } from "#kernel/values/key-of.ts";
import { usd } from "#kernel/values/money.ts";
import {
  type DepartureFigures,
  type Subscription as SubscriptionMessage,
  SubscriptionStatus as StatusMessage,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { DepartureNumbers } from "../domain/decide-departure.ts";
import { isInPool, type SubscriptionStatus, VISIBLE_STATUSES, type VisibleStatus } from "../domain/lifecycle.ts";
import type { Subscription } from "../store/subscriptions.ts";

const { UNSPECIFIED, ACTIVE, PAUSED, CANCELLED } = StatusMessage;
const STATUS: Readonly<Record<SubscriptionStatus, StatusMessage>> = {
  ASSIGNING: UNSPECIFIED,
  ACTIVE,
  PAUSED,
  CANCELLED,
  ABORTED: UNSPECIFIED,
};

/** All that are shown, unless one is wanted. */
export function wantedStatuses(status: StatusMessage): readonly VisibleStatus[] {
  const wanted = keyOf({ ACTIVE, PAUSED, CANCELLED }, status);
  return wanted === undefined ? VISIBLE_STATUSES : [wanted];
}

export function subscriptionMessage(subscription: Subscription): SubscriptionMessage {
  const { id, masterId, investorId, masterLogin, investorLogin, status } = subscription;
  return {
    id,
    masterId,
    investorId,
    masterLogin,
    investorLogin,
    status: STATUS[status],
    inPool: isInPool(status),
    startedAt: subscription.startedAt ?? undefined,
    endedAt: subscription.endedAt ?? undefined,
    createdAt: subscription.createdAt,
    balanceBaselineOpId: subscription.baselineEntryId ?? 0n,
  };
}

export function departureFigures({ before, pending, available, effective }: DepartureNumbers): DepartureFigures {
  return {
    balanceBefore: moneyToProto(usd(before)),
    pendingFee: moneyToProto(usd(pending)),
    availableAfterFee: moneyToProto(usd(available)),
    effective: moneyToProto(usd(effective)),
  };
}
