import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { closeCase, lockCase, openCase } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import { reviewActions, STILL_NOT_APPLIED } from "../domain/review-actions.ts";
import { formatReference } from "../domain/reference.ts";
import { readClock } from "../store/clock.ts";
import { listEndedReviews, listFailingLegs } from "../store/failing-legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { listLegsByNumber } from "../store/legs.ts";

/** Reviews that one run opens, and that it closes. */
const BATCH = 100;

/**
 * Shows operators the legs whose attempts have failed for hours, while further attempts are made, and closes the review of a leg
 * that has ended meanwhile.
 */
export async function reviewFailingLegs({ pool, settings }: Deps): Promise<boolean> {
  const ended = await listEndedReviews(pool, BATCH);
  for (const id of ended) await inTransaction(pool, (tx) => closeReview(tx, id));
  const failing = await listFailingLegs(pool, settings.reviewAfterMs, BATCH);
  for (const leg of await listLegsByNumber(pool, failing)) await inTransaction(pool, (tx) => openReview(tx, leg));
  return ended.length === BATCH || failing.length === BATCH;
}

async function closeReview(tx: Transaction, id: bigint): Promise<void> {
  const reviewCase = await lockCase(tx, id);
  if (reviewCase !== undefined) await closeCase(tx, reviewCase, new Date(await readClock(tx)));
}

async function openReview(tx: Transaction, leg: RecordedLeg): Promise<void> {
  const { number, login, amountMinor, key, status, createdAt } = leg;
  const newCase = {
    subject: `leg:${number}`,
    reason: STILL_NOT_APPLIED,
    login,
    amount: amountMinor,
    operationId: String(number),
    reference: formatReference({ kind: status.kind, number, attempt: status.attempt }),
    evidence: { key, amount_minor: String(amountMinor), attempt: status.attempt, since: createdAt.toISOString() },
    actions: reviewActions(STILL_NOT_APPLIED, status),
  };
  await openCase(tx, newCase, new Date(await readClock(tx)));
}
