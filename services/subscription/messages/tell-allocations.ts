import { moneyToProto } from "#kernel/contract/money.ts";
import { publishAll } from "#kernel/feed/publish.ts";
import { usd } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { ResultAllocated, WeekClosed } from "#proto/pamm/subscription/v1/events.ts";
import type { ResultStep, Step, WeekStep } from "../domain/advance-pool.ts";

/** Wakes whoever reads allocations. */
export const ALLOCATION_FEED = "subscription.allocations";

type Numbered = { readonly number: bigint };

/** In their order; what follows each other of one kind is told at once. */
export async function publishAllocations(
  tx: Transaction,
  masterLogin: string,
  steps: readonly (Numbered & Step)[],
): Promise<void> {
  for (let next = 0; next < steps.length;) {
    const kind = steps[next]?.kind;
    const end = steps.findIndex((step, index) => index > next && step.kind !== kind);
    const run = steps.slice(next, end === -1 ? undefined : end);
    await publishResultsAllocated(
      tx,
      masterLogin,
      run.filter((step) => step.kind === "result"),
    );
    await publishWeeksClosed(
      tx,
      masterLogin,
      run.filter((step) => step.kind === "week"),
    );
    next += run.length;
  }
}

async function publishResultsAllocated(
  tx: Transaction,
  masterLogin: string,
  results: readonly (Numbered & Pick<ResultStep, "deal">)[],
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
  weeks: readonly (Numbered & Pick<WeekStep, "cutOff" | "markedAt">)[],
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
