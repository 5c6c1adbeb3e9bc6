import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type AttemptFacts, markAttempt } from "../store/attempts.ts";
import type { NewEntry } from "../domain/log-entry.ts";
import { type Account, lockAccount } from "../store/accounts.ts";
import { lockOperation } from "../store/operations.ts";
import { saveStep } from "../store/operation-steps.ts";
import type { RecordedOperation } from "../store/operation-row.ts";
import { nextScanMs } from "../domain/next-scan.ts";
import type { OperationNumber } from "../domain/operation-number.ts";
import type { Operation, OperationEvent, Step } from "../domain/operation.ts";
import { step } from "../domain/operation-machine.ts";
import { listExplainedDeals, listExplainedDealsOf } from "../store/explained-deals.ts";
import { appendToLog } from "./history/append-to-log.ts";
import { operationEntry } from "./history/deal-entries.ts";
import { followLegs } from "./follow-legs.ts";
import { reportFinding } from "./reviews/report-finding.ts";

/** What is known beside the event itself. */
export type Circumstances = {
  /** Configured name of the platform's server, never an address. */
  readonly server: string;
  /** When the platform applied it, as far as we know. */
  readonly at: Date;
  /** What the sender of the attempt learned: then the event is its word, and not the platform's history. */
  readonly attempt?: AttemptFacts;
  /** For the person, when one has to look. */
  readonly evidence?: Readonly<Record<string, unknown>>;
  /** The deal that they have to look at. */
  readonly dealId?: bigint;
  /** How often that deal had been corrected by then. */
  readonly dealState?: number;
};

/** Without a time it was applied just now, by the clock of the database. */
export type EventCircumstances = Omit<Circumstances, "at"> & { readonly at?: Date | undefined };

/** An account and one of its operations, both locked, in this order. */
export type Locked = { readonly account: Account; readonly operation: RecordedOperation };

type Recorded = {
  readonly status: Operation;
  /** Set when this event applied it. Whoever records appends it to the log, where the log's order wants it. */
  readonly entry: NewEntry | undefined;
};

/** Where it stands, and whether only the reader can give its entry a number: the history of a Master has an order. */
export type EventRecorded = { readonly status: Operation; readonly awaitsReader: boolean };

export async function lockForStep(tx: Transaction, login: string, number: OperationNumber): Promise<Locked> {
  const account = await lockAccount(tx, login);
  if (account === undefined) throw new Error(`operation ${number} is on a login that is not managed`);
  return { account, operation: await lockOperation(tx, number) };
}

/**
 * Records what the platform answered, or what else became of an attempt. A Master's own operation waits for its number
 * until the reader reaches its deal: the log of a Master is in the order of the platform's history.
 */
export async function recordEvent(
  tx: Transaction,
  { account, operation }: Locked,
  event: OperationEvent,
  circumstances: EventCircumstances,
): Promise<EventRecorded> {
  const at = circumstances.at ?? account.seenAt;
  const { status, entry } = await takeStep(tx, operation, event, { ...circumstances, at });
  if (entry === undefined) return { status, awaitsReader: false };
  if (account.role === "master") return { status, awaitsReader: true };
  const { requestId } = operation;
  await appendToLog(tx, account, { server: circumstances.server, entries: [entry], requestId });
  return { status, awaitsReader: false };
}

/** One step of the protocol and all that follows from it in the books, but for the log. */
export async function takeStep(
  tx: Transaction,
  operation: RecordedOperation,
  event: OperationEvent,
  circumstances: Circumstances,
): Promise<Recorded> {
  const next = step(operation.status, event);
  const booking = await findBooking(tx, operation, next, circumstances.server);
  if (booking !== undefined) {
    return { status: await conflict(tx, operation, booking, circumstances), entry: undefined };
  }
  await markFate(tx, operation, event, { step: next, facts: circumstances.attempt });
  if (next.kind === "stay") return { status: operation.status, entry: undefined };
  if (next.kind === "unmatched") {
    await reportUnmatched(tx, operation, next.ticket, circumstances);
    return { status: operation.status, entry: undefined };
  }
  const { to, writes } = next;
  await save(tx, operation, { step: next, event }, circumstances);
  await followLegs(tx, operation, to);
  const entry = writes.includes("entry") ? operationEntry(operation, to, circumstances.at) : undefined;
  return { status: to, entry };
}

/** What its sender learned is kept with the attempt, also when it changes nothing any more. A new one has no row yet. */
async function markFate(
  tx: Transaction,
  { number }: RecordedOperation,
  event: OperationEvent,
  { step: next, facts }: { readonly step: Step; readonly facts: AttemptFacts | undefined },
): Promise<void> {
  if (event.type === "permit_granted") return;
  const fate = next.kind === "move" ? next.attempt : undefined;
  const attempt = fate?.number ?? ("attempt" in event ? event.attempt : undefined);
  if (attempt === undefined || (fate === undefined && facts === undefined)) return;
  await markAttempt(tx, number, attempt, { ...facts, state: fate?.state });
}

async function save(
  tx: Transaction,
  operation: RecordedOperation,
  { step: { to, writes }, event }: { readonly step: Extract<Step, { kind: "move" }>; readonly event: OperationEvent },
  circumstances: Circumstances,
): Promise<void> {
  const { server, at } = circumstances;
  const nextScanInMs = writes.includes("next_scan") ? nextScanMs(to) : undefined;
  await saveStep(tx, operation, { to, server, appliedAt: at, nextScanInMs });
  if (to.state === "REVIEW" && writes.includes("finding")) {
    await reportReview(tx, operation, { to, event }, circumstances);
  }
}

/**
 * The deal is booked already, and nothing is booked twice. An answer with the ticket of another login is no evidence at all:
 * what became of the command is in the history. Otherwise the platform used a ticket twice, and a person looks.
 */
async function conflict(
  tx: Transaction,
  operation: RecordedOperation,
  { ticket, isOwnLogin }: Booking,
  circumstances: Circumstances,
): Promise<Operation> {
  const { attempt } = operation.status;
  const lost = await takeStep(tx, operation, { type: "lost", attempt }, circumstances);
  if (!isOwnLogin && circumstances.attempt !== undefined) return lost.status;
  const unknown = { ...operation, status: lost.status };
  const reviewed = await takeStep(
    tx,
    unknown,
    { type: "does_not_fit", reason: "ticket_conflict" },
    { ...circumstances, dealId: ticket },
  );
  return reviewed.status;
}

/** A deal that is in the books already. */
type Booking = { readonly ticket: bigint; readonly isOwnLogin: boolean };

/** Where the deal that a step would book stands already; undefined when it stands nowhere, or the step books none. */
async function findBooking(
  tx: Transaction,
  { login }: RecordedOperation,
  next: Step,
  server: string,
): Promise<Booking | undefined> {
  if (next.kind !== "move" || next.to.state !== "APPLIED" || !next.writes.includes("deal")) return undefined;
  const { ticket } = next.to;
  const explained = await listExplainedDeals(tx, server, [ticket]);
  if (!explained.has(ticket)) return undefined;
  const own = await listExplainedDealsOf(tx, server, login, [ticket]);
  return { ticket, isOwnLogin: own.has(ticket) };
}

type Review = { readonly to: Extract<Operation, { state: "REVIEW" }>; readonly event: OperationEvent };

/** The machine stops touching an operation: a person sees what it was, and what speaks against it. */
async function reportReview(
  tx: Transaction,
  operation: RecordedOperation,
  { to, event }: Review,
  { server, evidence: seen, dealId: seenDeal, dealState }: Circumstances,
): Promise<void> {
  const { login, amountMinor, key } = operation;
  const evidence = { key, amount_minor: String(amountMinor), attempt: to.attempt, came_from: to.cameFrom, ...seen };
  const dealId = seenDeal ?? ("ticket" in event ? event.ticket : operation.dealId);
  const { reason } = to;
  const reviewed = { number: operation.number, status: to };
  await reportFinding(tx, { login, operation: reviewed, reason, server, dealId, dealState, amountMinor, evidence });
}

/** A deal beyond the one that the operation may have. */
async function reportUnmatched(
  tx: Transaction,
  operation: RecordedOperation,
  ticket: bigint,
  { server }: Circumstances,
): Promise<void> {
  const { login, key, amountMinor } = operation;
  const evidence = { key, ticket: String(ticket) };
  await reportFinding(tx, {
    login,
    operation,
    reason: "unmatched_deal",
    server,
    dealId: ticket,
    amountMinor,
    evidence,
  });
}
