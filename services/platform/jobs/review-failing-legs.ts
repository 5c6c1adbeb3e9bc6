import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { closeCase, lockCase, type NewCase, openCase } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import { reviewActions, STILL_NOT_APPLIED, STILL_UNKNOWN } from "../domain/review-actions.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { formatReference } from "../domain/reference.ts";
import { readClock } from "../store/clock.ts";
import { listEndedReviews, listFailingLegs, listUnknownLegs } from "../store/failing-legs.ts";
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
  const ended = [
    ...(await listEndedReviews(pool, STILL_NOT_APPLIED, BATCH)),
    ...(await listEndedReviews(pool, STILL_UNKNOWN, BATCH)),
  ];
  for (const id of ended) await inTransaction(pool, (tx) => closeReview(tx, id));
  const failing = await listFailingLegs(pool, settings.reviewAfterMs, BATCH);
  await openReviews(pool, failing, STILL_NOT_APPLIED);
  const unknown = await listUnknownLegs(pool, settings.reviewAfterMs, BATCH);
  await openReviews(pool, unknown, STILL_UNKNOWN);
  return [ended, failing, unknown].some(({ length }) => length >= BATCH);
}

async function openReviews(pool: Pool, numbers: readonly LegNumber[], reason: keyof typeof SUBJECTS): Promise<void> {
  for (const leg of await listLegsByNumber(pool, numbers)) {
    await inTransaction(pool, (tx) => openReview(tx, leg, reason));
  }
}

async function closeReview(tx: Transaction, id: bigint): Promise<void> {
  const reviewCase = await lockCase(tx, id);
  if (reviewCase !== undefined) await closeCase(tx, reviewCase, new Date(await readClock(tx)));
}

async function openReview(tx: Transaction, leg: RecordedLeg, reason: keyof typeof SUBJECTS): Promise<void> {
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
