import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { NewEntry } from "../../domain/log-entry.ts";
import { accepts } from "../../domain/operation-machine.ts";
import type { Deal } from "../../mt5/deals.ts";
import { lockAccount, setUndecidedFrom } from "../../store/accounts.ts";
import { listLoggedDeals } from "../../store/logged-deals.ts";
import { listAdoptedDeals } from "../../store/explained-deals.ts";
import { findOperationByDeal, findOperation, listUnderWay } from "../../store/operations.ts";
import type { RecordedOperation } from "../../store/operation-row.ts";
import { readReference } from "../../domain/reference.ts";
import { takeStep } from "../record.ts";
import { reportFinding } from "../reviews/report-finding.ts";
import { appendToLog } from "./append-to-log.ts";
import { causeOf, dealOf, externalEntry, unmatchedEntry, tradeEntry } from "./deal-entries.ts";
import { type Clues, effectOf, explainDeal, type Explanation } from "./explain-deal.ts";
import { sightOf } from "./sight-of-deal.ts";

/** Deals of one login since an instant, oldest first. */
export type History = { readonly from: Date; readonly deals: readonly Deal[] };

type Filing = Pick<Deps, "pool" | "doorbell"> & { readonly settings: Pick<Deps["settings"], "server"> };

/**
 * Writes what is new in a login's history into its log, in the order of the history. A deal that an open operation could
 * explain stops it there: what comes later waits until that is known, because numbers are given once.
 */
export async function fileDeals(deps: Filing, login: string, { deals, from }: History): Promise<void> {
  await inTransaction(deps.pool, async (tx) => {
    const account = await lockAccount(tx, login);
    // A history that begins behind a deal that is not decided yet would pass it.
    if (account === undefined || (account.undecidedFrom !== undefined && account.undecidedFrom < from)) return;
    const { server } = deps.settings;
    const tickets = deals.map(({ ticket }) => ticket);
    const known = new Set((await listLoggedDeals(tx, server, tickets)).map(({ ticket }) => ticket));
    const adopted = await listAdoptedDeals(tx, server, tickets);
    const isFresh = ({ ticket, at }: Deal) => !known.has(ticket) && !adopted.has(ticket) && at >= account.readsFrom;
    const fresh = deals.filter(isFresh);
    const { entries, undecided } = await explainAll(tx, server, fresh);
    await appendToLog(tx, account, { server, entries });
    if (undecided?.at.getTime() !== account.undecidedFrom?.getTime()) {
      await setUndecidedFrom(tx, login, undecided?.at);
    }
  });
  deps.doorbell.notify(login);
}

type Explained = { readonly entries: readonly NewEntry[]; readonly undecided: Deal | undefined };

async function explainAll(tx: Transaction, server: string, deals: readonly Deal[]): Promise<Explained> {
  const entries: NewEntry[] = [];
  for (const deal of deals) {
    const explanation = explainDeal(deal, await cluesOf(tx, server, deal));
    if (explanation.kind === "undecided") {
      await putOff(tx, server, deal, explanation);
      return { entries, undecided: deal };
    }
    entries.push(...(await entriesFor(tx, server, deal, explanation)));
  }
  return { entries, undecided: undefined };
}

async function cluesOf(tx: Transaction, server: string, { ticket, login, comment }: Deal): Promise<Clues> {
  const number = await findOperationByDeal(tx, server, ticket);
  const reference = readReference(comment);
  return {
    byTicket: number && (await findOperation(tx, number)),
    reference,
    byReference: reference && (await findOperation(tx, reference.number)),
    underWay: await listUnderWay(tx, login),
  };
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
      return [await ownEntry(tx, server, deal, explanation.operation)];
    case "applies": {
      const { operation, attempt } = explanation;
      const event = { type: "applied", attempt, ticket: deal.ticket } as const;
      const { entry } = await takeStep(tx, operation, event, circumstances);
      return entry === undefined ? [] : [{ ...entry, deal: dealOf(deal), at: deal.at }];
    }
    case "external": {
      const { finding, operation, event } = explanation;
      if (finding !== undefined) await report(tx, server, deal, { reason: finding, operation });
      if (operation !== undefined && event !== undefined) await takeStep(tx, operation, event, circumstances);
      const entry = externalEntry(deal);
      return readReference(deal.comment) === undefined ? [entry] : [entry, unmatchedEntry(deal)];
    }
  }
}

/** A Master's own operation gets its number here, where the platform's history shows it. */
async function ownEntry(tx: Transaction, server: string, deal: Deal, operation: RecordedOperation): Promise<NewEntry> {
  if (operation.amountMinor !== effectOf(deal)) {
    await takeStep(tx, operation, { type: "does_not_fit", reason: "amount_differs" }, sightOf(server, deal, operation));
  }
  return { ...externalEntry(deal), kind: operation.status.kind, cause: causeOf(operation) };
}

/** Only from UNKNOWN does evidence lead to a person: before that the sender's own answer may still come. */
async function putOff(
  tx: Transaction,
  server: string,
  deal: Deal,
  { operation, misfit }: Extract<Explanation, { kind: "undecided" }>,
): Promise<void> {
  if (misfit === undefined || !accepts(operation.status, "does_not_fit")) return;
  await takeStep(tx, operation, { type: "does_not_fit", reason: misfit }, sightOf(server, deal, operation));
}

async function report(
  tx: Transaction,
  server: string,
  deal: Deal,
  { reason, operation }: { readonly reason: string; readonly operation: RecordedOperation | undefined },
): Promise<void> {
  const { login, comment } = deal;
  const { dealId, evidence } = sightOf(server, deal, operation);
  const amountMinor = effectOf(deal);
  const reference = readReference(comment);
  await reportFinding(tx, { login, operation, reason, server, dealId, amountMinor, reference, evidence });
}
