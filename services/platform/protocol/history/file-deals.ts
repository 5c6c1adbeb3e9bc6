import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { NewEntry } from "../../domain/log-entry.ts";
import { accepts } from "../../domain/leg-machine.ts";
import type { Deal } from "../../mt5/deals.ts";
import { lockAccount, setUndecidedFrom } from "../../store/accounts.ts";
import { listBookedDeals } from "../../store/explained-deals.ts";
import { findLegsOfDeal } from "../../store/legs.ts";
import type { RecordedLeg } from "../../store/leg-row.ts";
import { readReference } from "../../domain/reference.ts";
import { recordTransition } from "../record.ts";
import { reportFinding } from "../reviews/report-finding.ts";
import { appendToLog } from "./append-to-log.ts";
import { causeOf, dealOf, externalEntry, unmatchedEntry, tradeEntry } from "./deal-entries.ts";
import { type DealRecords, effectOf, explainDeal, type Explanation, isBalanceOperation } from "./explain-deal.ts";

/** Deals of one login since an instant, oldest first. */
export type History = { readonly from: Date; readonly deals: readonly Deal[] };

type Filing = Pick<Deps, "pool" | "loginSignals"> & { readonly settings: Pick<Deps["settings"], "server"> };

/**
 * Appends the new deals of a login's history to its log, in the order of the history. A deal that may belong to an open
 * leg stops the filing: later deals wait until that leg is decided, because log positions never change.
 */
export async function fileDeals(deps: Filing, login: string, { deals, from }: History): Promise<void> {
  await inTransaction(deps.pool, async (tx) => {
    const account = await lockAccount(tx, login);
    // A history that begins after an undecided deal would skip this deal.
    if (account === undefined || (account.undecidedFrom !== undefined && account.undecidedFrom < from)) return;
    const { server } = deps.settings;
    const tickets = deals.map(({ ticket }) => ticket);
    const booked = await listBookedDeals(tx, server, tickets);
    const isFresh = ({ ticket, at }: Deal) => !booked.has(ticket) && at >= account.readsFrom;
    const fresh = deals.filter(isFresh);
    const { entries, undecided } = await explainAll(tx, server, fresh);
    await appendToLog(tx, account, { server, entries });
    if (undecided?.at.getTime() !== account.undecidedFrom?.getTime()) {
      await setUndecidedFrom(tx, login, undecided?.at);
    }
  });
  deps.loginSignals.notify(login);
}

type Explained = { readonly entries: readonly NewEntry[]; readonly undecided: Deal | undefined };

async function explainAll(tx: Transaction, server: string, deals: readonly Deal[]): Promise<Explained> {
  const entries: NewEntry[] = [];
  for (const deal of deals) {
    const explanation = explainDeal(deal, await recordsOf(tx, server, deal));
    if (explanation.kind === "undecided") {
      await reportMisfit(tx, server, deal, explanation);
      return { entries, undecided: deal };
    }
    entries.push(...(await entriesFor(tx, server, deal, explanation)));
  }
  return { entries, undecided: undefined };
}

async function recordsOf(tx: Transaction, server: string, deal: Deal): Promise<DealRecords> {
  const { ticket, login, comment } = deal;
  const reference = readReference(comment);
  // A trade is explained without records.
  if (!isBalanceOperation(deal)) return { byTicket: undefined, reference, byReference: undefined, underWay: [] };
  const { byNumber, ...legs } = await findLegsOfDeal(tx, server, { ticket, login, number: reference?.number });
  return { reference, byReference: byNumber, ...legs };
}

async function entriesFor(
  tx: Transaction,
  server: string,
  deal: Deal,
  explanation: Exclude<Explanation, { kind: "undecided" }>,
): Promise<NewEntry[]> {
  const circumstances = { server, at: deal.at };
  switch (explanation.kind) {
    case "no_effect":
      return [];
    case "trade":
      return [tradeEntry(deal)];
    case "own":
      return [await ownEntry(tx, server, deal, explanation.leg)];
    case "applies": {
      const { leg, attempt } = explanation;
      const event = { type: "applied", attempt, ticket: deal.ticket } as const;
      const { entry } = await recordTransition(tx, leg, event, circumstances);
      return entry === undefined ? [] : [{ ...entry, deal: dealOf(deal), at: deal.at }];
    }
    case "external": {
      const { finding, leg, event } = explanation;
      if (finding !== undefined) await report(tx, server, deal, { reason: finding, leg });
      if (leg !== undefined && event !== undefined) await recordTransition(tx, leg, event, circumstances);
      const entry = externalEntry(deal);
      return readReference(deal.comment) === undefined ? [entry] : [entry, unmatchedEntry(deal)];
    }
  }
}

/** A leg of a Master gets its log position here, where the platform's history shows its deal. */
async function ownEntry(tx: Transaction, server: string, deal: Deal, leg: RecordedLeg): Promise<NewEntry> {
  if (leg.amountMinor !== effectOf(deal)) {
    await recordTransition(
      tx,
      leg,
      { type: "does_not_fit", reason: "amount_differs" },
      dealEvidence(server, deal, leg),
    );
  }
  return { ...externalEntry(deal), kind: leg.status.kind, cause: causeOf(leg) };
}

/** Sends a misfit to manual review, but only from UNKNOWN: before that the sender's own answer may still arrive. */
async function reportMisfit(
  tx: Transaction,
  server: string,
  deal: Deal,
  { leg, misfit }: Extract<Explanation, { kind: "undecided" }>,
): Promise<void> {
  if (misfit === undefined || !accepts(leg.status, "does_not_fit")) return;
  await recordTransition(tx, leg, { type: "does_not_fit", reason: misfit }, dealEvidence(server, deal, leg));
}

async function report(
  tx: Transaction,
  server: string,
  deal: Deal,
  { reason, leg }: { readonly reason: string; readonly leg: RecordedLeg | undefined },
): Promise<void> {
  const { login, comment } = deal;
  const { dealId, evidence } = dealEvidence(server, deal, leg);
  const amountMinor = effectOf(deal);
  const reference = readReference(comment);
  await reportFinding(tx, { login, leg, reason, server, dealId, amountMinor, reference, evidence });
}

/** Circumstances of a review: the deal as the history shows it. */
function dealEvidence(server: string, deal: Deal, leg: RecordedLeg | undefined) {
  const { ticket: dealId, comment, action, at } = deal;
  const evidence = {
    key: leg?.key,
    amount_minor: String(effectOf(deal)),
    comment,
    action,
    at: at.toISOString(),
    reference: referenceEvidence(comment),
    operation_state: leg?.status.state,
  };
  return { server, at, dealId, evidence };
}

/** The content of a reference, also for a leg that a restored database does not have. */
function referenceEvidence(comment: string): Readonly<Record<string, unknown>> | undefined {
  const reference = readReference(comment);
  return reference && { kind: reference.kind, number: String(reference.number), attempt: reference.attempt };
}
