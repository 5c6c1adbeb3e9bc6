import type { BalanceOrder } from "./balance.ts";
import { DEAL_ACTION, balanceEffect } from "./deals.ts";
import type { Deal, Period } from "./deals.ts";
import { Mt5Error } from "./errors.ts";

/** What the history is asked. */
export type HistoryQuestions = {
  readonly getDeal: (ticket: bigint) => Promise<Deal | undefined>;
  readonly readDeals: (login: string, period: Period) => Promise<readonly Deal[]>;
};

type Ordered = Pick<BalanceOrder, "login" | "amountMinor" | "comment">;

/** Clocks and zones may hide a deal from a narrow window. */
const WINDOW_MS = 24 * 3_600_000;

/** Whether the deal with this ticket is one that the order would have made. False also when that cannot be seen now. */
export async function isDealOf(
  { getDeal }: HistoryQuestions,
  { login, amountMinor }: Ordered,
  ticket: bigint,
): Promise<boolean> {
  return await orFalse(async () => {
    const deal = await getDeal(ticket);
    if (deal === undefined) return false;
    return deal.login === login && deal.action === DEAL_ACTION.balance && balanceEffect(deal) === amountMinor;
  });
}

/** Whether the history shows nothing of the order. False also when that cannot be seen now. */
export async function showsNothingOf(
  { readDeals }: HistoryQuestions,
  { login, comment }: Ordered,
): Promise<boolean> {
  return await orFalse(async () => {
    const now = Date.now();
    const period = { from: new Date(now - WINDOW_MS), to: new Date(now + WINDOW_MS) };
    const deals = await readDeals(login, period);
    return deals.every((deal) => deal.comment !== comment);
  });
}

async function orFalse(look: () => Promise<boolean>): Promise<boolean> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof Mt5Error) return false;
    throw error;
  }
}
