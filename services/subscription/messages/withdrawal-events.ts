import { publish } from "#kernel/feed/publish.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { DepartureKind } from "../domain/decide-departure.ts";
import { WithdrawalChanged, WithdrawalProgress } from "#proto/pamm/subscription/v1/events.ts";

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
