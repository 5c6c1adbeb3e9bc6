import { moneyToProto } from "#kernel/contract/money.ts";
import { publish } from "#kernel/feed/publish.ts";
import { usd } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { ResultAllocated, WeekClosed } from "#proto/pamm/subscription/v1/events.ts";
import type { ResultEvent, PoolEvent, WeekEvent } from "../domain/advance-pool.ts";

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
    if (event.kind === "result") publishResultAllocated(tx, masterLogin, event);
    if (event.kind === "week") publishWeekClosed(tx, masterLogin, event);
  }
}

function publishResultAllocated(
  tx: Transaction,
  masterLogin: string,
  result: Numbered & Pick<ResultEvent, "deal" | "raised">,
): void {
  const { dealId, dealAt } = result.deal;
  const amount = result.deal.amount - result.raised.total;
  publish(tx, {
    feed: ALLOCATION_FEED,
    event: ResultAllocated,
    message: { masterLogin, masterNumber: result.number, dealId, dealAt, result: moneyToProto(usd(amount)) },
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
