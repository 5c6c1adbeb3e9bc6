import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import { reportedState } from "../../domain/leg.ts";
import { legNumber } from "../../domain/leg-number.ts";
import { STILL_NOT_APPLIED, STILL_UNKNOWN } from "../../domain/review-actions.ts";
import { type Deal, effectOf, isBalanceOperation } from "../../mt5/deals.ts";
import { findCurrencyBreak } from "../../store/account-stops.ts";
import { readClock } from "../../store/clock.ts";
import { isExplained, listDealRecords } from "../../store/deal-records.ts";
import { setNextScan } from "../../store/leg-transitions.ts";
import { type Locked, lockAccountAndLeg, recordEvent } from "../record.ts";
import type { Unscannable } from "../scan-leg.ts";

/** Locks the leg of a review; throws when it is not in manual review, or of unknown outcome, any more. */
export async function requireOpenReview(tx: Transaction, { login, operationId, reason }: ReviewCase): Promise<Locked> {
  const locked = await lockAccountAndLeg(tx, login, legNumber(BigInt(operationId)));
  if (locked.leg.status.state === (reason === STILL_UNKNOWN ? "UNKNOWN" : "REVIEW")) return locked;
  throw actionNotPossible(`Leg ${operationId} no longer needs manual review.`);
}

/** A stopped account goes on when its group is one of dollars and cents again: no decision makes other money dollars. */
export async function requireSupportedCurrency(tx: Transaction, { login }: ReviewCase): Promise<void> {
  const found = await findCurrencyBreak(tx, login);
  if (found === undefined) return;
  throw actionNotPossible(
    `${found} Move the account back, or change the group back, on the trading platform; the break closes within ten minutes, and then the account can be resumed.`,
  );
}

/** Throws unless nothing but operators can find out that the attempt of unknown outcome moved no money. */
export async function requireUnscannable(
  tx: Transaction,
  reviewCase: ReviewCase,
  found: Unscannable | undefined,
): Promise<void> {
  const { operationId } = reviewCase;
  const { leg } = await requireOpenReview(tx, reviewCase);
  if (found === undefined || found.attempt !== leg.status.attempt) {
    throw actionNotPossible(`Leg ${operationId} has changed. Read the review again before deciding.`);
  }
  switch (found.doubt) {
    case "may_still_arrive":
      throw actionNotPossible(
        `The trading platform may still execute leg ${operationId}. Decide a quiet period after it was sent, or after platform was started.`,
      );
    case "is_scanned":
      throw actionNotPossible(
        `The history of account ${leg.login} can be read again. Leg ${operationId} ends by itself within a quiet period.`,
      );
    case undefined:
  }
}

/** Locks the leg of a review about failed attempts; throws when it does not wait for a further attempt any more. */
export async function requireWaitingLeg(tx: Transaction, { login, operationId }: ReviewCase): Promise<Locked> {
  const locked = await lockAccountAndLeg(tx, login, legNumber(BigInt(operationId)));
  if (locked.leg.status.state === "INTENT") return locked;
  throw actionNotPossible(
    `Leg ${operationId} is being attempted, or has ended. Read the review again before deciding.`,
  );
}

export type NamedDeal = { readonly server: string; readonly dealId: bigint; readonly shown: Deal | undefined };

/** Throws unless the named deal is the one that was ordered: the platform shows it, and it is not recorded yet. */
export async function requireDealOfLeg(tx: Transaction, reviewCase: ReviewCase, named: NamedDeal): Promise<void> {
  const { server, dealId, shown } = named;
  const { leg } = await requireOpenReview(tx, reviewCase);
  if (dealId === 0n) throw actionNotPossible("The action confirm_applied requires deal_id: the deal of the leg.");
  if (shown === undefined) throw actionNotPossible(`The trading platform does not show deal ${dealId}.`);
  const differences = [
    ...(shown.login === reviewCase.login ? [] : [`it is on login ${shown.login}`]),
    ...(isBalanceOperation(shown) ? [] : ["it is not a balance operation"]),
    ...(effectOf(shown) === leg.amountMinor ? [] : ["its amount differs"]),
  ];
  if (differences.length > 0) {
    throw actionNotPossible(`Deal ${dealId} is not the requested leg: ${differences.join(", ")}.`);
  }
  const records = await listDealRecords(tx, server, [dealId]);
  if (isExplained(records.get(dealId))) throw actionNotPossible(`Deal ${dealId} is already recorded.`);
}

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
