import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type NewCase, openCase } from "#kernel/review/cases.ts";
import { DATABASE_BEHIND, reviewActions } from "../../domain/review-actions.ts";
import { LEG_KINDS } from "../../domain/leg-kind.ts";
import type { LostMovement } from "../../domain/lost-movement.ts";
import { formatReference, type Reference } from "../../domain/reference.ts";
import { readClock } from "../../store/clock.ts";
import { insertLostMovement, markLostMovements } from "../../store/lost-movements.ts";
import { beginGeneration, stopPermits } from "../../store/permit-gate.ts";

/** A deal with a reference of this service whose leg the database does not have. */
export type LostDeal = LostMovement & { readonly reference: Reference };

/**
 * Stops all permits: a leg is recorded before its command is sent, so the database has lost commits, and callers may repeat what was
 * executed already. One review asks operators to resume, whatever the number of such deals. A lost deposit or withdrawal is remembered: a caller who repeats it
 * is refused, also after the operators have resumed. The account is locked.
 */
export async function stopForLostCommits(tx: Transaction, server: string, deal: LostDeal): Promise<void> {
  const { login, amountMinor: amount, dealId } = deal;
  await markLostMovements(tx, login);
  await stopAllPermits(tx, { login, amount, dealId, reference: formatReference(deal.reference), evidence: {} });
  // After the stop: what was found since then is counted while permits are stopped.
  if (LEG_KINDS[deal.reference.kind].origin === "external") await insertLostMovement(tx, server, deal);
}

/** Stops the permits of all accounts until two operators resume. One review is open, whatever the number of causes. */
export async function stopAllPermits(
  tx: Transaction,
  cause: Pick<NewCase, "login" | "amount" | "dealId" | "reference" | "evidence">,
): Promise<void> {
  await stopPermits(tx);
  await beginGeneration(tx);
  const actions = reviewActions(DATABASE_BEHIND, undefined);
  const newCase: NewCase = { ...cause, subject: DATABASE_BEHIND, reason: DATABASE_BEHIND, actions };
  await openCase(tx, newCase, new Date(await readClock(tx)));
}
