import type { Transaction } from "#kernel/postgres/transaction.ts";
import { openCase } from "#kernel/review/cases.ts";
import { DATABASE_BEHIND, reviewActions } from "../../domain/review-actions.ts";
import { formatReference, type Reference } from "../../domain/reference.ts";
import { readClock } from "../../store/clock.ts";
import { stopPermits } from "../../store/permit-gate.ts";

/** A deal with a reference of this service whose leg the database does not have. */
export type LostDeal = {
  readonly login: string;
  readonly dealId: bigint;
  /** Signed. */
  readonly amountMinor: bigint;
  readonly reference: Reference;
};

/**
 * Stops all permits: a leg is recorded before its command is sent, so the database has lost commits, and callers may repeat what was
 * executed already. One review asks operators to resume, whatever the number of such deals; each deal has a review of its own.
 */
export async function stopForLostCommits(tx: Transaction, deal: LostDeal): Promise<void> {
  await stopPermits(tx);
  const newCase = {
    subject: DATABASE_BEHIND,
    reason: DATABASE_BEHIND,
    login: deal.login,
    amount: deal.amountMinor,
    dealId: deal.dealId,
    reference: formatReference(deal.reference),
    evidence: {},
    actions: reviewActions(DATABASE_BEHIND, undefined),
  };
  await openCase(tx, newCase, new Date(await readClock(tx)));
}
