import { usd, zero } from "#kernel/values/money.ts";
import { type EntryCause, type EntryDeal, type NewEntry, tradeOf } from "../../domain/log-entry.ts";
import type { Leg } from "../../domain/leg.ts";
import { readReference } from "../../domain/reference.ts";
import { type Deal, effectOf } from "../../mt5/deals.ts";
import type { RecordedLeg } from "../../store/leg-row.ts";

/** The entry of an applied leg, from its answer or a scan. */
export function legEntry(leg: RecordedLeg, status: Leg, at: Date): NewEntry {
  const ticket = status.state === "APPLIED" ? status.ticket : 0n;
  return {
    kind: status.kind,
    amount: usd(leg.amountMinor),
    cause: causeOf(leg),
    deal: { id: ticket, serverMsc: undefined },
    at,
  };
}

export function causeOf({ number, transferId, key }: RecordedLeg): EntryCause {
  return { leg: number, transferId, key };
}

/** The entry of a deal that no leg of the service made. */
export function externalEntry(deal: Deal): NewEntry {
  const { action, comment } = deal;
  return { kind: "external", label: { action, comment }, ...factsOf(deal) };
}

/** The entry beside an unmatched deal: every consumer of the login's log stops there. */
export function unmatchedEntry(deal: Deal): NewEntry {
  return { ...factsOf(deal), kind: "amendment", amount: zero(), amendment: "unmatched_deal" };
}

export function tradeEntry(deal: Deal): NewEntry {
  return { kind: "trade", trade: tradeOf(deal), ...factsOf(deal) };
}

function factsOf(deal: Deal): Pick<NewEntry, "amount" | "deal" | "at"> {
  return { amount: usd(effectOf(deal)), deal: dealOf(deal), at: deal.at };
}

export function dealOf({ ticket, serverTimeMs }: Deal): EntryDeal {
  return { id: ticket, serverMsc: BigInt(serverTimeMs) };
}

/** Circumstances of a review: the deal as the history shows it. */
export function dealEvidence(server: string, deal: Deal, leg: RecordedLeg | undefined) {
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
