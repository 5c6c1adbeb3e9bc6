import { moneyToProto } from "#kernel/contract/money.ts";
import { publishAll } from "#kernel/feed/publish.ts";
import { usd } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { ResultAllocated, WeekClosed } from "#proto/pamm/subscription/v1/events.ts";
import type { ResultEvent, PoolEvent, WeekEvent } from "../domain/advance-pool.ts";

/** Its events are wake-up signals for readers of ReadAllocations. */
export const ALLOCATION_FEED = "subscription.allocations";

type Numbered = { readonly number: bigint };

/** Publishes pool events in their order; consecutive events of one kind are published together. */
export async function publishAllocations(
  tx: Transaction,
  masterLogin: string,
  events: readonly (Numbered & PoolEvent)[],
): Promise<void> {
  for (let next = 0; next < events.length;) {
    const kind = events[next]?.kind;
    const end = events.findIndex((event, index) => index > next && event.kind !== kind);
    const consecutive = events.slice(next, end === -1 ? undefined : end);
    await publishResultsAllocated(
      tx,
      masterLogin,
      consecutive.filter((event) => event.kind === "result"),
    );
    await publishWeeksClosed(
      tx,
      masterLogin,
      consecutive.filter((event) => event.kind === "week"),
    );
    next += consecutive.length;
  }
}

async function publishResultsAllocated(
  tx: Transaction,
  masterLogin: string,
  results: readonly (Numbered & Pick<ResultEvent, "deal">)[],
): Promise<void> {
  await publishAll(
    tx,
    results.map(({ number: masterNumber, deal: { dealId, dealAt, amount } }) => ({
      feed: ALLOCATION_FEED,
      event: ResultAllocated,
      message: { masterLogin, masterNumber, dealId, dealAt, result: moneyToProto(usd(amount)) },
    })),
  );
}

async function publishWeeksClosed(
  tx: Transaction,
  masterLogin: string,
  weeks: readonly (Numbered & Pick<WeekEvent, "cutOff" | "markedAt">)[],
): Promise<void> {
  await publishAll(
    tx,
    weeks.map(({ number: masterNumber, cutOff, markedAt }) => ({
      feed: ALLOCATION_FEED,
      event: WeekClosed,
      message: { masterLogin, masterNumber, cutOff, markedAt },
    })),
  );
}
