import { type EntryOf, MalformedEntry } from "#kernel/feed/decode-entry.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import { WithdrawalChanged, WithdrawalProgress } from "#proto/pamm/subscription/v1/events.ts";
import type { Deps } from "../deps.ts";
import { type Progress, saveProgress, type WaitingState } from "../store/cashflow-transitions.ts";

/** Keeps how far the withdrawals are whose callers have got no outcome, and has the recovery job record how they have ended. */
export function withdrawalsFeed({ settleWake }: Pick<Deps, "settleWake">) {
  return {
    feed: "subscription.withdrawals",
    events: [WithdrawalChanged],
    async receive(tx: Transaction, entries: readonly EntryOf<typeof WithdrawalChanged>[]): Promise<void> {
      const progress = new Map<string, Progress>();
      for (const { number, message } of entries) {
        const { operationId } = message;
        const { state, hasEnded } = progress.get(operationId) ?? { state: undefined, hasEnded: false };
        const isEnd = message.progress === WithdrawalProgress.ENDED;
        const reported = isEnd ? state : STATES[message.progress];
        if (!isEnd && reported === undefined) throw new MalformedEntry(number, "it names no progress");
        progress.set(operationId, { operationId, state: reported, hasEnded: hasEnded || isEnd });
      }
      await saveProgress(tx, [...progress.values()]);
      afterCommit(tx, settleWake.notify);
    },
  };
}

const STATES: Partial<Readonly<Record<WithdrawalProgress, WaitingState>>> = {
  [WithdrawalProgress.WAITING]: "WAITING",
  [WithdrawalProgress.RUNNING]: "RUNNING",
};
