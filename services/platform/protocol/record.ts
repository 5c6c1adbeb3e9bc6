import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type AttemptFacts, markAttempt } from "../store/attempts.ts";
import type { NewEntry } from "../domain/log-entry.ts";
import { type Account, lockAccount } from "../store/accounts.ts";
import { lockLeg } from "../store/legs.ts";
import { saveTransition } from "../store/leg-transitions.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { nextScanMs } from "../domain/next-scan.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import type { Leg, LegEvent, Transition } from "../domain/leg.ts";
import { applyEvent } from "../domain/leg-machine.ts";
import { isExplained, listDealRecords } from "../store/deal-records.ts";
import { appendToLog } from "./history/append-to-log.ts";
import { legEntry } from "./history/deal-entries.ts";
import { followLegs } from "./follow-legs.ts";
import { reportLeg } from "./reviews/report-finding.ts";

/** Facts beside the event itself. */
export type Circumstances = {
  /** Configured name of the platform's server, never an address. */
  readonly server: string;
  /** When the platform applied the leg, as far as it is known. */
  readonly at: Date;
  /** Facts from the sender of the attempt: set when the event is an answer, not read from the platform's history. */
  readonly attempt?: AttemptFacts;
  /** Evidence for manual review. */
  readonly evidence?: Readonly<Record<string, unknown>>;
  /** The deal for manual review. */
  readonly dealId?: bigint;
};

/** Without a time the leg was applied just now, by the clock of the database. */
export type EventCircumstances = Omit<Circumstances, "at"> & { readonly at?: Date | undefined };

/** An account and one of its legs, both locked, in this order. */
export type Locked = { readonly account: Account; readonly leg: RecordedLeg };

type Recorded = {
  readonly status: Leg;
  /** Set when this event applied the leg. The caller appends it to the log, in the order of the log. */
  readonly entry: NewEntry | undefined;
};

/** The new status, and whether the entry waits for the reader: a Master's log is in the order of the platform's history. */
export type EventRecorded = { readonly status: Leg; readonly awaitsReader: boolean };

export async function lockAccountAndLeg(tx: Transaction, login: string, number: LegNumber): Promise<Locked> {
  const account = await lockAccount(tx, login);
  if (account === undefined) throw new Error(`leg ${number} is on a login that is not managed`);
  return { account, leg: await lockLeg(tx, number) };
}

/**
 * Records an answer of the platform or another event of an attempt. The entry of a Master's leg waits until the
 * reader reaches its deal: the log of a Master is in the order of the platform's history.
 */
export async function recordEvent(
  tx: Transaction,
  { account, leg }: Locked,
  event: LegEvent,
  circumstances: EventCircumstances,
): Promise<EventRecorded> {
  const at = circumstances.at ?? account.seenAt;
  const { status, entry } = await recordTransition(tx, leg, event, { ...circumstances, at });
  if (entry === undefined) return { status, awaitsReader: false };
  if (account.role === "master") return { status, awaitsReader: true };
  const { requestId } = leg;
  await appendToLog(tx, account, { server: circumstances.server, entries: [entry], requestId });
  return { status, awaitsReader: false };
}

/** Writes one transition of the protocol and everything that follows from it, except the log entry. */
export async function recordTransition(
  tx: Transaction,
  leg: RecordedLeg,
  event: LegEvent,
  circumstances: Circumstances,
): Promise<Recorded> {
  const next = applyEvent(leg.status, event);
  const booking = await findBooking(tx, leg, next, circumstances.server);
  if (booking !== undefined) {
    return { status: await resolveTicketConflict(tx, leg, booking, circumstances), entry: undefined };
  }
  await markAttemptOutcome(tx, leg, event, { next, facts: circumstances.attempt });
  if (next.kind === "stay") return { status: leg.status, entry: undefined };
  // A second deal of the leg.
  if (next.kind === "unmatched") {
    const { ticket } = next;
    const evidence = { ticket: String(ticket) };
    await reportLeg(tx, leg, "unmatched_deal", { server: circumstances.server, dealId: ticket, evidence });
    return { status: leg.status, entry: undefined };
  }
  const { to, writes } = next;
  await save(tx, leg, { next, event }, circumstances);
  await followLegs(tx, leg, to);
  const entry = writes.includes("entry") ? legEntry(leg, to, circumstances.at) : undefined;
  return { status: to, entry };
}

/** Records the sender's facts with the attempt, also without a transition. A new attempt has no row yet. */
async function markAttemptOutcome(
  tx: Transaction,
  { number }: RecordedLeg,
  event: LegEvent,
  { next, facts }: { readonly next: Transition; readonly facts: AttemptFacts | undefined },
): Promise<void> {
  if (event.type === "permit_granted") return;
  const outcome = next.kind === "move" ? next.attempt : undefined;
  const attempt = outcome?.number ?? ("attempt" in event ? event.attempt : undefined);
  if (attempt === undefined || (outcome === undefined && facts === undefined)) return;
  await markAttempt(tx, number, attempt, { ...facts, state: outcome?.state });
}

async function save(
  tx: Transaction,
  leg: RecordedLeg,
  { next: { to, writes }, event }: { readonly next: Extract<Transition, { kind: "move" }>; readonly event: LegEvent },
  circumstances: Circumstances,
): Promise<void> {
  const { server, at } = circumstances;
  const nextScanInMs = writes.includes("next_scan") ? nextScanMs(to) : undefined;
  await saveTransition(tx, leg, { to, server, appliedAt: at, nextScanInMs });
  if (to.state === "REVIEW" && writes.includes("finding")) {
    await reportReview(tx, leg, { to, event }, circumstances);
  }
}

/**
 * The deal is booked already, and no deal is booked twice. An answer with the ticket of another login is no evidence: the
 * history decides the outcome. Otherwise the platform used a ticket twice, and the leg needs manual review.
 */
async function resolveTicketConflict(
  tx: Transaction,
  leg: RecordedLeg,
  { ticket, isOwnLogin }: Booking,
  circumstances: Circumstances,
): Promise<Leg> {
  const { attempt } = leg.status;
  const lost = await recordTransition(tx, leg, { type: "lost", attempt }, circumstances);
  if (!isOwnLogin && circumstances.attempt !== undefined) return lost.status;
  const unknown = { ...leg, status: lost.status };
  const reviewed = await recordTransition(
    tx,
    unknown,
    { type: "does_not_fit", reason: "ticket_conflict" },
    { ...circumstances, dealId: ticket },
  );
  return reviewed.status;
}

/** A deal that is recorded already. */
type Booking = { readonly ticket: bigint; readonly isOwnLogin: boolean };

/** The existing record of the deal that a transition would book; undefined when there is none, or it books no deal. */
async function findBooking(
  tx: Transaction,
  { login }: RecordedLeg,
  next: Transition,
  server: string,
): Promise<Booking | undefined> {
  if (next.kind !== "move" || next.to.state !== "APPLIED" || !next.writes.includes("deal")) return undefined;
  const { ticket } = next.to;
  const record = (await listDealRecords(tx, server, [ticket])).get(ticket);
  return isExplained(record) ? { ticket, isOwnLogin: isExplained(record, login) } : undefined;
}

type Review = { readonly to: Extract<Leg, { state: "REVIEW" }>; readonly event: LegEvent };

/** Opens the review of a leg, with its previous state and the evidence. */
async function reportReview(
  tx: Transaction,
  leg: RecordedLeg,
  { to, event }: Review,
  { server, evidence: seen, dealId: seenDeal }: Circumstances,
): Promise<void> {
  const dealId = seenDeal ?? ("ticket" in event ? event.ticket : leg.dealId);
  const evidence = { attempt: to.attempt, came_from: to.cameFrom, ...seen };
  await reportLeg(tx, { ...leg, status: to }, to.reason, { server, dealId, evidence });
}
