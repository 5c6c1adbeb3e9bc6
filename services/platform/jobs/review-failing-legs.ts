import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { closeCase, lockCase, type NewCase, openCase } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import { reviewActions, STILL_NOT_APPLIED, STILL_UNKNOWN } from "../domain/review-actions.ts";
import { formatReference } from "../domain/reference.ts";
import { readClock } from "../store/clock.ts";
import { type Delay, listDelayed, listEndedReviews } from "../store/due-legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { listLegsByNumber } from "../store/legs.ts";

/** Reviews that one run opens, and that it closes. */
const BATCH = 100;

/** What a review says about its leg; each has reviews of its own, so that one never hides the other. */
const SUBJECTS = { [STILL_NOT_APPLIED]: "leg", [STILL_UNKNOWN]: "unknown" } as const;

/**
 * Shows operators the legs whose attempts have failed for hours, while further attempts are made, and those whose outcome has been
 * unknown for as long, while they are scanned. Closes the review of a leg that has ended meanwhile.
 */
export async function reviewFailingLegs({ pool, settings }: Deps): Promise<boolean> {
  let isBatchFull = false;
  for (const delay of [STILL_NOT_APPLIED, STILL_UNKNOWN] as const) {
    const ended = await listEndedReviews(pool, delay, BATCH);
    for (const id of ended) await inTransaction(pool, (tx) => closeReview(tx, id));
    const delayed = await listDelayed(pool, delay, settings.reviewAfterMs, BATCH);
    for (const leg of await listLegsByNumber(pool, delayed)) {
      await inTransaction(pool, (tx) => openReview(tx, leg, delay));
    }
    isBatchFull ||= ended.length === BATCH || delayed.length === BATCH;
  }
  return isBatchFull;
}

async function closeReview(tx: Transaction, id: bigint): Promise<void> {
  const reviewCase = await lockCase(tx, id);
  if (reviewCase !== undefined) await closeCase(tx, reviewCase, new Date(await readClock(tx)));
}

async function openReview(tx: Transaction, leg: RecordedLeg, reason: Delay): Promise<void> {
  const { number, login, amountMinor, key, status } = leg;
  const since = reason === STILL_UNKNOWN ? leg.changedAt : leg.createdAt;
  const newCase: NewCase = {
    subject: `${SUBJECTS[reason]}:${number}`,
    reason,
    login,
    amount: amountMinor,
    operationId: String(number),
    reference: formatReference({ kind: status.kind, number, attempt: status.attempt }),
    evidence: { key, amount_minor: String(amountMinor), attempt: status.attempt, since: since.toISOString() },
    actions: reviewActions(reason, status),
  };
  await openCase(tx, newCase, new Date(await readClock(tx)));
}
