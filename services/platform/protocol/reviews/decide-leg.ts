import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { reportedState } from "../../domain/leg.ts";
import { STILL_NOT_APPLIED } from "../../domain/review-actions.ts";
import { readClock } from "../../store/clock.ts";
import { setNextScan } from "../../store/leg-transitions.ts";
import { requireOpenReview, requireWaitingLeg } from "./examine-decision.ts";
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
  if (reviewCase.reason === STILL_NOT_APPLIED) return await giveUp(tx, reviewCase, server);
  await recordEvent(tx, await requireOpenReview(tx, reviewCase), { type: "decided_refused" }, { server });
}

/** Requests the next attempt of the leg at once, instead of after its pause. */
export async function retryLeg(tx: Transaction, reviewCase: ReviewCase): Promise<void> {
  const { leg } = await requireWaitingLeg(tx, reviewCase);
  await setNextScan(tx, leg.number, new Date(await readClock(tx)));
}

/** Ends a leg that waits for a further attempt: each earlier one was proven to have moved no money. */
async function giveUp(tx: Transaction, reviewCase: ReviewCase, server: string): Promise<void> {
  const locked = await requireWaitingLeg(tx, reviewCase);
  await recordEvent(tx, locked, { type: "given_up", reason: "decided" }, { server });
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
