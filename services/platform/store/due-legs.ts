import { fragment, type Fragment, type Queryable, sql } from "#kernel/postgres/query.ts";
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
