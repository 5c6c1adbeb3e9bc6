import { publish, publishAll } from "#kernel/feed/publish.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import {
  ExitCompleted,
  ExitRequested,
  FollowingChanged,
  MirrorApplied,
  WithdrawalChanged,
  WithdrawalProgress,
} from "#proto/pamm/subscription/v1/events.ts";
import type { HoldingBook, HoldingFlow } from "../domain/books.ts";
import type { Subscription } from "../store/subscriptions.ts";
import type { DepartureKind } from "../domain/decide-departure.ts";

export const MIRROR_FEED = "subscription.mirrors";
export const EXIT_FEED = "subscription.exits";

export type AppliedMirror = {
  readonly masterLogin: string;
  readonly amount: bigint;
  readonly dealId: bigint;
  readonly flows: readonly HoldingFlow[];
};

export function publishMirrorsApplied(
  tx: Transaction,
  mirrors: readonly AppliedMirror[],
  holdings: ReadonlyMap<bigint, HoldingBook>,
): void {
  publishAll(
    tx,
    mirrors.map(({ masterLogin, amount, dealId, flows }) => ({
      feed: MIRROR_FEED,
      event: MirrorApplied,
      subject: `mirror.v1.applied.${masterLogin}`,
      message: {
        masterLogin,
        amount: moneyToProto(usd(amount)),
        dealId,
        flows: flows.map((flow) => ({
          subscriptionId: flow.subscriptionId,
          investorLogin: holdings.get(flow.subscriptionId)?.investorLogin ?? "",
          amount: moneyToProto(usd(flow.amount)),
        })),
      },
    })),
  );
}

export type RequestedExit = {
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly investorLogin: string;
  /** Positive. */
  readonly amount: bigint;
  readonly exitTransferId: bigint | undefined;
  readonly requestId: string;
  readonly at: Date;
};

export function publishExitRequested(tx: Transaction, exit: RequestedExit): void {
  const { subscriptionId, masterLogin, investorLogin } = exit;
  publishAll(tx, [
    {
      feed: EXIT_FEED,
      event: ExitRequested,
      subject: `exit.v1.requested.${masterLogin}`,
      requestId: exit.requestId,
      message: {
        subscriptionId,
        masterLogin,
        investorLogin,
        amount: moneyToProto(usd(-exit.amount)),
        transferId: exit.exitTransferId ?? 0n,
        requestedAt: exit.at,
      },
    },
  ]);
}

export function publishExitsCompleted(tx: Transaction, cancelled: readonly Subscription[]): void {
  publishAll(
    tx,
    cancelled.map(({ id, masterLogin, investorLogin, endedAt }) => ({
      feed: EXIT_FEED,
      event: ExitCompleted,
      subject: `exit.v1.completed.${masterLogin}`,
      message: { subscriptionId: id, masterLogin, investorLogin, endedAt: endedAt ?? undefined },
    })),
  );
}

/** Other services keep which Master each Investor follows. */
export const FOLLOWING_FEED = "subscription.followings";

/** Publish it in the transaction that begins or ends an ACTIVE subscription; `masterLogin` is empty at the end. */
export function publishFollowing(tx: Transaction, message: FollowingChanged): void {
  publish(tx, { feed: FOLLOWING_FEED, event: FollowingChanged, message });
}

/** `funding` shows whether a withdrawal waits, and learns when one has ended that no caller waits for. */
export const WITHDRAWAL_FEED = "subscription.withdrawals";

type Reported = { readonly kind: DepartureKind; readonly operationId: string };

/** Of a withdrawal; nothing follows an exit. */
export function publishProgress(
  tx: Transaction,
  { kind, operationId }: Reported,
  progress: "WAITING" | "RUNNING" | "ENDED",
): void {
  if (kind === "EXIT") return;
  const message = { operationId, progress: WithdrawalProgress[progress] };
  publish(tx, { feed: WITHDRAWAL_FEED, event: WithdrawalChanged, message });
}
