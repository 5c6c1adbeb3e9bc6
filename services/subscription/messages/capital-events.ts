import { publishAll } from "#kernel/feed/publish.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { ExitCompleted, ExitRequested, MirrorApplied } from "#proto/pamm/subscription/v1/events.ts";
import type { HoldingBook, HoldingFlow } from "../domain/books.ts";
import type { Subscription } from "../store/subscriptions.ts";

export const MIRROR_FEED = "subscription.mirrors";
export const EXIT_FEED = "subscription.exits";

export type AppliedMirror = {
  readonly id: bigint;
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
    mirrors.map(({ id, masterLogin, amount, dealId, flows }) => ({
      feed: MIRROR_FEED,
      event: MirrorApplied,
      subject: `mirror.v1.applied.${masterLogin}`,
      message: {
        masterLogin,
        mirrorId: id,
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
  readonly subscription: Subscription;
  /** Positive. */
  readonly amount: bigint;
  readonly exitTransferId: bigint | undefined;
  readonly requestId: string;
  readonly at: Date;
};

export function publishExitRequested(tx: Transaction, exit: RequestedExit): void {
  const { id, masterLogin, investorLogin } = exit.subscription;
  publishAll(tx, [
    {
      feed: EXIT_FEED,
      event: ExitRequested,
      subject: `exit.v1.requested.${masterLogin}`,
      requestId: exit.requestId,
      message: {
        subscriptionId: id,
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
