import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { NewEntry } from "../../domain/log-entry.ts";
import { accepts } from "../../domain/leg-machine.ts";
import type { Deal } from "../../mt5/deals.ts";
import { type Account, lockAccounts, setUndecidedFrom } from "../../store/accounts.ts";
import { listBookedDeals } from "../../store/explained-deals.ts";
import { listLegsOfDeals } from "../../store/legs.ts";
import type { RecordedLeg } from "../../store/leg-row.ts";
import { readReference } from "../../domain/reference.ts";
import { recordTransition } from "../record.ts";
import { reportFinding } from "../reviews/report-finding.ts";
import { type Addition, appendToLogs } from "./append-to-log.ts";
import { causeOf, dealOf, externalEntry, unmatchedEntry, tradeEntry } from "./deal-entries.ts";
import { type DealRecords, effectOf, explainDeal, type Explanation, isBalanceOperation } from "./explain-deal.ts";

/** Deals of logins since an instant, those of each login oldest first. */
export type Histories = { readonly from: Date; readonly deals: ReadonlyMap<string, readonly Deal[]> };

type Filing = Pick<Deps, "pool" | "loginSignals"> & { readonly settings: Pick<Deps["settings"], "server"> };

/**
 * Appends the new deals of each login's history to its log, in the order of the history, in one commit. A deal that may belong
 * to an open leg stops the filing of its login: later deals wait until that leg is decided, because log positions never change.
 */
export async function fileDeals(deps: Filing, { deals, from }: Histories): Promise<void> {
  const { server } = deps.settings;
  await inTransaction(deps.pool, async (tx) => {
    const locked = await lockAccounts(tx, [...deals.keys()]);
    // A history that begins after an undecided deal would skip this deal.
    const accounts = [...locked.values()].filter(({ undecidedFrom: at }) => at === undefined || at >= from);
    const fresh = await listFresh(tx, server, accounts, deals);
    const records = await recordsOf(tx, server, [...fresh.values()].flat());
    const additions: Addition[] = [];
    for (const account of accounts) {
      const { login, undecidedFrom } = account;
      const { entries, undecided } = await explainAll(tx, server, fresh.get(login) ?? [], records);
      additions.push(...entries.map((entry) => ({ account, entry })));
      if (undecided?.at.getTime() !== undecidedFrom?.getTime()) await setUndecidedFrom(tx, login, undecided?.at);
    }
    await appendToLogs(tx, server, additions);
  });
  for (const login of deals.keys()) deps.loginSignals.notify(login);
}

/** The deals that are in no log and not part of an opening balance, by login. */
async function listFresh(
  tx: Transaction,
  server: string,
  accounts: readonly Account[],
  deals: Histories["deals"],
): Promise<ReadonlyMap<string, readonly Deal[]>> {
  const shown = accounts.flatMap(({ login }) => deals.get(login) ?? []);
  const booked = await listBookedDeals(
    tx,
    server,
    shown.map(({ ticket }) => ticket),
  );
  return new Map(
    accounts.map(({ login, readsFrom }) => [
      login,
      (deals.get(login) ?? []).filter(({ ticket, at }) => !booked.has(ticket) && at >= readsFrom),
    ]),
  );
}

type Explained = { readonly entries: readonly NewEntry[]; readonly undecided: Deal | undefined };

/** The records of all deals of a commit, as they were before its first transition. */
type Records = { readonly byTicket: ReadonlyMap<bigint, DealRecords>; hasChanged: boolean };

async function explainAll(
  tx: Transaction,
  server: string,
  deals: readonly Deal[],
  records: Records,
): Promise<Explained> {
  const entries: NewEntry[] = [];
  for (const deal of deals) {
    const { byTicket } = records.hasChanged ? await recordsOf(tx, server, [deal]) : records;
    const explanation = explainDeal(deal, byTicket.get(deal.ticket) ?? NO_RECORDS);
    records.hasChanged ||= !LEAVES_LEGS.has(explanation.kind);
    if (explanation.kind === "undecided") {
      await reportMisfit(tx, server, deal, explanation);
      return { entries, undecided: deal };
    }
    entries.push(...(await entriesFor(tx, server, deal, explanation)));
  }
  return { entries, undecided: undefined };
}

/** A trade is explained without records. */
const NO_RECORDS: DealRecords = { byTicket: undefined, reference: undefined, byReference: undefined, underWay: [] };
/** Explanations after which no leg has another status. An own leg whose amount differs gets one, but explains no other deal. */
const LEAVES_LEGS: ReadonlySet<Explanation["kind"]> = new Set(["no_effect", "trade", "own"]);

async function recordsOf(tx: Transaction, server: string, deals: readonly Deal[]): Promise<Records> {
  const explained = deals.filter(isBalanceOperation).map((deal) => ({ deal, reference: readReference(deal.comment) }));
  const legs = await listLegsOfDeals(
    tx,
    server,
    explained.map(({ deal: { ticket, login }, reference }) => ({ ticket, login, number: reference?.number })),
  );
  const byTicket = new Map(
    explained.map(({ deal, reference }, index): [bigint, DealRecords] => {
      const { byTicket: own, byNumber, underWay } = legs[index] ?? { underWay: [] };
      return [deal.ticket, { byTicket: own, reference, byReference: byNumber, underWay }];
    }),
  );
  return { byTicket, hasChanged: false };
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
