import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Operation, OperationEvent } from "../domain/operation.ts";
import type { RecordedOperation } from "../store/operation-row.ts";
import type { Circumstances } from "./circumstances.ts";
import { reportFinding } from "./reviews/report-finding.ts";

type Review = { readonly to: Extract<Operation, { state: "REVIEW" }>; readonly event: OperationEvent };

/** The machine stops touching an operation: a person sees what it was, and what speaks against it. */
export async function reportReview(
  tx: Transaction,
  operation: RecordedOperation,
  { to, event }: Review,
  { server, evidence: seen, dealId: seenDeal, dealState }: Circumstances,
): Promise<void> {
  const { login, amountMinor, key } = operation;
  const evidence = { key, amount_minor: String(amountMinor), attempt: to.attempt, came_from: to.cameFrom, ...seen };
  const dealId = seenDeal ?? ("ticket" in event ? event.ticket : operation.dealId);
  const { reason } = to;
  const reviewed = { number: operation.number, standing: to };
  await reportFinding(tx, { login, operation: reviewed, reason, server, dealId, dealState, amountMinor, evidence });
}

/** A deal beyond the one that the operation may have. */
export async function reportSurplus(
  tx: Transaction,
  operation: RecordedOperation,
  ticket: bigint,
  { server }: Circumstances,
): Promise<void> {
  const { login, key, amountMinor } = operation;
  const evidence = { key, ticket: String(ticket) };
  await reportFinding(tx, { login, operation, reason: "surplus_deal", server, dealId: ticket, amountMinor, evidence });
}
