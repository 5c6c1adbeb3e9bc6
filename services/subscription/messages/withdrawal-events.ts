import { publish } from "#kernel/feed/publish.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { WithdrawalChanged, WithdrawalProgress } from "#proto/pamm/subscription/v1/events.ts";

/** `funding` shows whether a withdrawal waits, and learns when one has ended that no caller waits for. */
export const WITHDRAWAL_FEED = "subscription.withdrawals";

export function publishProgress(tx: Transaction, operationId: string, progress: "WAITING" | "RUNNING" | "ENDED"): void {
  const message = { operationId, progress: WithdrawalProgress[progress] };
  publish(tx, { feed: WITHDRAWAL_FEED, event: WithdrawalChanged, message });
}
