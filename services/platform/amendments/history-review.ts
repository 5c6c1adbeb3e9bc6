import { formatMinor } from "#kernel/values/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { lockUndecidedCase, type NewCase, openCase, renewCase } from "#kernel/review/cases.ts";
import type { Trade } from "../domain/log-entry.ts";
import { HISTORY_CHANGED, reviewActions } from "../domain/review-actions.ts";
import { type Deal, DEAL_ACTION, effectOf, isBalanceOperation } from "../mt5/deals.ts";
import { isWithoutEffect } from "../protocol/history/explain-deal.ts";
import { listChanges } from "../store/amendments.ts";
import { readClock } from "../store/clock.ts";
import { type BookedDeal, listDealRecords } from "../store/deal-records.ts";

/** Changed deals that a review shows; the log has all of them. */
const MAX_SHOWN = 100;

/** Of the review of an account whose history was changed. */
export function subjectOf(login: string): string {
  return `${HISTORY_CHANGED}:${login}`;
}

/** The amount of a correction, and what it was read from. */
type Read = Pick<NewCase, "amount" | "evidence">;

/**
 * Opens the review of an account, or renews the known one, which voids its proposal. Without a difference it waits for one: the account is
 * read by a job, and before each vote.
 */
export async function saveReview(
  tx: Transaction,
  { login, server }: { readonly login: string; readonly server: string },
  known: ReviewCase | undefined,
  read?: Read,
): Promise<void> {
  const at = new Date(await readClock(tx));
  const deals = await changedDeals(tx, login, server);
  const newCase: NewCase = {
    subject: subjectOf(login),
    reason: HISTORY_CHANGED,
    login,
    amount: read?.amount,
    dealId: deals[0] && BigInt(deals[0].deal_id),
    evidence: { deals, ...(read && { ...read.evidence, read_at: at.toISOString() }) },
    actions: reviewActions(HISTORY_CHANGED, undefined),
  };
  if (known !== undefined) return await renewCase(tx, known, newCase, at);
  const opened = await openCase(tx, newCase, at);
  // Another replica has opened it meanwhile.
  if (opened === undefined) {
    await saveReview(tx, { login, server }, await lockUndecidedCase(tx, subjectOf(login)), read);
  }
}

/** The deals that were changed since the last correction, the newest change first: as the log has them, and as they were shown. */
async function changedDeals(tx: Transaction, login: string, server: string) {
  const changes = await listChanges(tx, login, MAX_SHOWN);
  const tickets = changes.map(({ ticket }) => ticket);
  const records = await listDealRecords(tx, server, tickets);
  return changes.map(({ ticket, amendment, shownAs, foundAt }) => {
    const booked = records.get(ticket)?.logged.find((deal) => deal.login === login)?.booked;
    const was = booked === undefined ? NO_DEAL : describeBooked(booked);
    return { deal_id: String(ticket), amendment, booked: was, shown: shownAs, found_at: foundAt.toISOString() };
  });
}

type Described = Trade & Pick<Deal, "serverTimeMs">;

export const NO_DEAL = "no such deal";

/**
 * A deal as text: two deals have the same text when they change balance and positions alike. Comments are not part of it: they decide
 * nothing once a deal is recorded, and the broker may edit them.
 */
export function describeDeal(deal: Described): string {
  const { action, entry, positionId, symbol, volume, volumeClosed, serverTimeMs } = deal;
  const at = serverTimeMs === 0 ? "" : ` at ${serverTimeMs}`;
  if (isWithoutEffect(deal)) return `nothing on the balance, action ${action}${at}`;
  const effect = formatMinor(effectOf(deal));
  if (isBalanceOperation(deal)) return `${effect} as a balance operation${at}`;
  const { profitMinor, swapMinor, commissionMinor, feeMinor } = deal;
  const parts = [profitMinor, swapMinor, commissionMinor, feeMinor].map(formatMinor).join(", ");
  return `${effect} (${parts}) by action ${action}${at}, entry ${entry} of position ${positionId} ${symbol}, volume ${volume} closing ${volumeClosed}`;
}

const NO_TRADE = {
  action: DEAL_ACTION.balance,
  entry: 0,
  positionId: 0n,
  symbol: "",
  volume: 0n,
  volumeClosed: 0n,
  swapMinor: 0n,
  commissionMinor: 0n,
  feeMinor: 0n,
};

/** The same of a deal as its log has it. The platform's time of it is not known while only an answer has named the deal. */
export function describeBooked(
  { amountMinor, serverMsc, trade }: BookedDeal,
  shown?: Pick<Deal, "serverTimeMs">,
): string {
  const serverTimeMs = serverMsc === null ? (shown?.serverTimeMs ?? 0) : Number(serverMsc);
  return describeDeal({ ...(trade ?? { ...NO_TRADE, profitMinor: amountMinor }), serverTimeMs });
}
