import { moneyToProto } from "#kernel/contract/money.ts";
import { publish } from "#kernel/feed/publish.ts";
import { usd } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { ResultAllocated, WeekClosed } from "#proto/pamm/subscription/v1/events.ts";
import type { PoolEvent, WeekEvent } from "../domain/advance-pool.ts";
import type { MasterDeal } from "../domain/master-deal.ts";

/** Its events are wake-up signals for readers of ReadAllocations. */
export const ALLOCATION_FEED = "subscription.allocations";

type Numbered = { readonly number: bigint };

/** Publishes pool events in their order. */
export function publishAllocations(
  tx: Transaction,
  masterLogin: string,
  events: readonly (Numbered & PoolEvent)[],
): void {
  for (const event of events) {
    if (event.kind === "result") {
      const { number, deal, raised } = event;
      const { dealId, dealAt } = deal;
      publishResultAllocated(tx, masterLogin, { number, dealId, dealAt, amount: deal.amount - raised.total });
    }
    if (event.kind === "week") publishWeekClosed(tx, masterLogin, event);
  }
}

export function publishResultAllocated(
  tx: Transaction,
  masterLogin: string,
  { number, dealId, dealAt, amount }: Numbered & Pick<MasterDeal, "dealId" | "dealAt" | "amount">,
): void {
  publish(tx, {
    feed: ALLOCATION_FEED,
    event: ResultAllocated,
    message: { masterLogin, masterNumber: number, dealId, dealAt, result: moneyToProto(usd(amount)) },
  });
}

function publishWeekClosed(
  tx: Transaction,
  masterLogin: string,
  week: Numbered & Pick<WeekEvent, "cutOff" | "markedAt">,
): void {
  const { number: masterNumber, cutOff, markedAt } = week;
  publish(tx, {
    feed: ALLOCATION_FEED,
    event: WeekClosed,
    message: { masterLogin, masterNumber, cutOff, markedAt },
  });
}
