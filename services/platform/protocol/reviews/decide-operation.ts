import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { told } from "../../domain/operation.ts";
import { requireOpenReview } from "./examine-decision.ts";
import { operationNumber } from "../../domain/operation-number.ts";
import { lockForStep, recordEvent } from "../record.ts";

type Confirmed = { readonly server: string; readonly ticket: bigint; readonly at: Date | undefined };

/** Two people say that this deal is the operation's: from here on it is like one that a scan has found. */
export async function confirmApplied(tx: Transaction, about: ReviewCase, confirmed: Confirmed): Promise<void> {
  const { server, ticket, at } = confirmed;
  await recordEvent(tx, await requireOpenReview(tx, about), { type: "decided_applied", ticket }, { server, at });
}

/** Two people say that nothing moved: from here on it is like an absence that was proven. */
export async function confirmNotApplied(tx: Transaction, about: ReviewCase, server: string): Promise<void> {
  await recordEvent(tx, await requireOpenReview(tx, about), { type: "decided_refused" }, { server });
}

/** An operation that was told as applied stays so, whatever people do about its deal. Other findings change nothing here. */
export async function keepApplied(tx: Transaction, about: ReviewCase, server: string): Promise<void> {
  if (about.operationId === "") return;
  const locked = await lockForStep(tx, about.login, operationNumber(BigInt(about.operationId)));
  const { status, dealId: ticket } = locked.operation;
  if (status.state !== "REVIEW" || status.reason !== about.reason) return;
  if (told(status) !== "APPLIED" || ticket === undefined) return;
  await recordEvent(tx, locked, { type: "decided_applied", ticket }, { server });
}
