import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import {
  type DepartureFigures,
  type Subscription as SubscriptionMessage,
  SubscriptionStatus as StatusMessage,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { DepartureNumbers } from "../domain/decide-departure.ts";
import { isInPool, type SubscriptionStatus, type VisibleStatus } from "../domain/lifecycle.ts";
import type { Subscription } from "../store/subscriptions.ts";

const STATUS: Readonly<Record<SubscriptionStatus, StatusMessage>> = {
  ASSIGNING: StatusMessage.UNSPECIFIED,
  ACTIVE: StatusMessage.ACTIVE,
  PAUSED: StatusMessage.PAUSED,
  CANCELLED: StatusMessage.CANCELLED,
  ABORTED: StatusMessage.UNSPECIFIED,
};

export const STATUS_OF_MESSAGE: Readonly<Record<StatusMessage, VisibleStatus | undefined>> = {
  [StatusMessage.UNSPECIFIED]: undefined,
  [StatusMessage.ACTIVE]: "ACTIVE",
  [StatusMessage.PAUSED]: "PAUSED",
  [StatusMessage.CANCELLED]: "CANCELLED",
};

export function statusMessage(status: SubscriptionStatus): StatusMessage {
  return STATUS[status];
}

export function subscriptionMessage(subscription: Subscription): SubscriptionMessage {
  const { id, masterId, investorId, masterLogin, investorLogin, status } = subscription;
  return {
    id,
    masterId,
    investorId,
    masterLogin,
    investorLogin,
    status: statusMessage(status),
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
