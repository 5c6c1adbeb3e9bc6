import { column, fragment, type Fragment, type Queryable, sql } from "#kernel/postgres/query.ts";
import { STILL_NOT_APPLIED, STILL_UNKNOWN } from "../domain/review-actions.ts";
import type { LegState } from "../domain/leg.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { listNumbers } from "./leg-row.ts";

/** The instant at which the next scan is due, or at which the next sent leg counts as lost; null without one. */
export function nextLost(answerMs: number): Fragment {
  return fragment`least(
    (select min(next_scan_at) from leg where state = 'UNKNOWN'),
    (select min(permit_expires_at) + ${answerMs} * interval '1 millisecond' from attempt where state = 'SENDING')
  )`;
}

/** Legs whose permit and answer time have ended without a report from their sender. */
export async function listOverdue(db: Queryable, answerMs: number, limit: number): Promise<LegNumber[]> {
  return await listNumbers(
    db,
    sql`select leg.number
        from leg
        join attempt on leg_number = leg.number and attempt.number = leg.attempt
        where leg.state = 'SENDING'
          and permit_expires_at < clock_timestamp() - ${answerMs} * interval '1 millisecond'
        order by leg.number
        limit ${limit}`,
  );
}

/** Claims UNKNOWN legs with a due scan for this process, which schedules their next scan. */
export async function claimToScan(db: Queryable, claimMs: number, limit: number): Promise<LegNumber[]> {
  return await listNumbers(
    db,
    sql`update leg
        set next_scan_at = clock_timestamp() + ${claimMs} * interval '1 millisecond'
        where number = any ((
          select array_agg(number)
          from (
            select number
            from leg
            where state = 'UNKNOWN' and next_scan_at <= statement_timestamp()
            order by next_scan_at
            limit ${limit}
            for no key update skip locked
          ) as claimed
        )::bigint[])
        returning number`,
  );
}

/** Why operators are shown a leg that has not ended. */
export type Delay = typeof STILL_NOT_APPLIED | typeof STILL_UNKNOWN;

/** Condition on a leg that has had the delay since an instant before the age. */
const IS_DELAYED: Readonly<Record<Delay, (since: Fragment) => Fragment>> = {
  [STILL_NOT_APPLIED]: (since) => fragment`state = 'INTENT' and is_ready and attempt > 0 and created_at < ${since}`,
  [STILL_UNKNOWN]: (since) => fragment`state = 'UNKNOWN' and changed_at < ${since}`,
};

/** The states in which a leg is not delayed so any more. */
const ENDED_IN: Readonly<Record<Delay, readonly LegState[]>> = {
  [STILL_NOT_APPLIED]: ["APPLIED", "REFUSED", "REVIEW"],
  [STILL_UNKNOWN]: ["INTENT", "SENDING", "APPLIED", "REFUSED", "REVIEW"],
};

/**
 * Legs that have been delayed for this long, oldest first, without those that operators have a review of, or have decided about within the same time.
 */
export async function listDelayed(db: Queryable, delay: Delay, ageMs: number, limit: number): Promise<LegNumber[]> {
  const since = fragment`clock_timestamp() - ${ageMs} * interval '1 millisecond'`;
  return await listNumbers(
    db,
    sql`select number
        from leg
        where ${IS_DELAYED[delay](since)}
          and not exists (
            select from review_case
            where reason = ${delay} and operation_id = leg.number::text
              and (state in ('OPEN', 'PROPOSED') or confirmed_at > ${since})
          )
        order by number
        limit ${limit}`,
  );
}

/** Undecided reviews of legs that have ended or are reviewed for another reason, ascending. */
export async function listEndedReviews(db: Queryable, delay: Delay, limit: number): Promise<bigint[]> {
  return await column<bigint>(
    db,
    sql`select id
        from review_case
        where state in ('OPEN', 'PROPOSED') and reason = ${delay}
          and (select state from leg where number = operation_id::bigint) = any (${ENDED_IN[delay]}::text[])
        order by id
        limit ${limit}`,
  );
}
