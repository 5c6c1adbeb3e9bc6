import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { reportedState } from "../../domain/leg.ts";
import { requireOpenReview } from "./examine-decision.ts";
import { legNumber } from "../../domain/leg-number.ts";
import { lockAccountAndLeg, recordEvent } from "../record.ts";

type Confirmed = { readonly server: string; readonly ticket: bigint; readonly at: Date | undefined };

/** Records the decision that the deal belongs to the leg, as if a scan had found it. */
export async function confirmApplied(tx: Transaction, reviewCase: ReviewCase, confirmed: Confirmed): Promise<void> {
  const { server, ticket, at } = confirmed;
  await recordEvent(tx, await requireOpenReview(tx, reviewCase), { type: "decided_applied", ticket }, { server, at });
}

/** Records the decision that no money moved, as if the absence had been proven. */
export async function confirmNotApplied(tx: Transaction, reviewCase: ReviewCase, server: string): Promise<void> {
  await recordEvent(tx, await requireOpenReview(tx, reviewCase), { type: "decided_refused" }, { server });
}

/** Returns a leg that was reported as applied to APPLIED, whatever operators decide about its deal. */
export async function keepApplied(tx: Transaction, reviewCase: ReviewCase, server: string): Promise<void> {
  if (reviewCase.operationId === "") return;
  const locked = await lockAccountAndLeg(tx, reviewCase.login, legNumber(BigInt(reviewCase.operationId)));
  const { status, dealId: ticket } = locked.leg;
  if (status.state !== "REVIEW" || status.reason !== reviewCase.reason) return;
  if (reportedState(status) !== "APPLIED" || ticket === undefined) return;
  await recordEvent(tx, locked, { type: "decided_applied", ticket }, { server });
}
