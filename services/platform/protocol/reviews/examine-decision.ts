import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import { type Deal, DEAL_ACTION } from "../../mt5/deals.ts";
import { listExplainedDeals } from "../../store/explained-deals.ts";
import { effectOf } from "../history/explain-deal.ts";
import { legNumber } from "../../domain/leg-number.ts";
import { type Locked, lockAccountAndLeg } from "../record.ts";

/** Locks the leg of a review; throws when it is not in manual review any more. */
export async function requireOpenReview(tx: Transaction, { login, operationId }: ReviewCase): Promise<Locked> {
  const locked = await lockAccountAndLeg(tx, login, legNumber(BigInt(operationId)));
  if (locked.leg.status.state === "REVIEW") return locked;
  throw actionNotPossible(`Leg ${operationId} no longer needs manual review.`);
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
    ...(shown.action === DEAL_ACTION.balance ? [] : ["it is not a balance operation"]),
    ...(effectOf(shown) === leg.amountMinor ? [] : ["its amount differs"]),
  ];
  if (differences.length > 0) {
    throw actionNotPossible(`Deal ${dealId} is not the requested leg: ${differences.join(", ")}.`);
  }
  const booked = await listExplainedDeals(tx, server, [dealId]);
  if (booked.has(dealId)) throw actionNotPossible(`Deal ${dealId} is already recorded.`);
}
