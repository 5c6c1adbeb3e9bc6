import { column, type Queryable, sql } from "#kernel/postgres/query.ts";
import { STILL_NOT_APPLIED, STILL_UNKNOWN } from "../domain/review-actions.ts";
import type { LegState } from "../domain/leg.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { listNumbers } from "./leg-row.ts";

/**
 * Legs of this age that wait for a further attempt, oldest first, without those that operators have a review of or have decided
 * about within the same time.
 */
export async function listFailingLegs(db: Queryable, ageMs: number, limit: number): Promise<LegNumber[]> {
  return await listNumbers(
    db,
    sql`select number
        from leg
        where state = 'INTENT' and is_ready and attempt > 0
          and created_at < clock_timestamp() - ${ageMs} * interval '1 millisecond'
          and not exists (
            select from review_case
            where reason = ${STILL_NOT_APPLIED} and operation_id = leg.number::text
              and (state in ('OPEN', 'PROPOSED') or confirmed_at > clock_timestamp() - ${ageMs} * interval '1 millisecond')
          )
        order by number
        limit ${limit}`,
  );
}

/** Legs whose outcome has been unknown for this long, oldest first, without those that operators have a review of. */
export async function listUnknownLegs(db: Queryable, ageMs: number, limit: number): Promise<LegNumber[]> {
  return await listNumbers(
    db,
    sql`select number
        from leg
        where state = 'UNKNOWN' and changed_at < clock_timestamp() - ${ageMs} * interval '1 millisecond'
          and not exists (
            select from review_case
            where reason = ${STILL_UNKNOWN} and operation_id = leg.number::text and state in ('OPEN', 'PROPOSED')
          )
        order by number
        limit ${limit}`,
  );
}

/** By the reason of a review about a leg: the states in which the leg is not what the review says any more. */
const ENDED_IN: Readonly<Record<string, readonly LegState[]>> = {
  [STILL_NOT_APPLIED]: ["APPLIED", "REFUSED", "REVIEW"],
  [STILL_UNKNOWN]: ["INTENT", "SENDING", "APPLIED", "REFUSED", "REVIEW"],
};

/** Undecided reviews with this reason of legs that have ended or are reviewed for another reason, ascending. */
export async function listEndedReviews(
  db: Queryable,
  reason: typeof STILL_NOT_APPLIED | typeof STILL_UNKNOWN,
  limit: number,
): Promise<bigint[]> {
  return await column<bigint>(
    db,
    sql`select id
        from review_case
        where state in ('OPEN', 'PROPOSED') and reason = ${reason}
          and (select state from leg where number = operation_id::bigint) = any (${ENDED_IN[reason]}::text[])
        order by id
        limit ${limit}`,
  );
}
