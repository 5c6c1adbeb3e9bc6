import { fragment, type Fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { legNumber, type LegNumber } from "../domain/leg-number.ts";

/** Condition on a leg that waits for a permit, with its transfer: its account gets one. Otherwise operators decide, or the account is read or restored first. */
const MAY_BEGIN = fragment`not exists (
    select from account
    where account.login = leg.login
      and (may_lack_deals
           or ((stopped_reason is not null or archived_at is not null) and ordinal = 1
               and (send_before is null or send_before > statement_timestamp())))
  )`;

/** The instant from which a leg waits for a permit; null without one. */
export const nextWaiting = fragment`(
  select min(next_scan_at)
  from leg
  join transfer on transfer.id = transfer_id
  where state = 'INTENT' and is_ready and ${MAY_BEGIN}
)`;

export type WaitingPage = {
  /** A request waits for a leg no longer than this. */
  readonly requestMs: number;
  readonly after: LegNumber | undefined;
  readonly limit: number;
};

/** Legs without a waiting request: enqueued, a later leg, attempted before, or older than any waiting request. */
export async function listWaiting(db: Queryable, { requestMs, after, limit }: WaitingPage): Promise<LegNumber[]> {
  const rows = await many<{ number: bigint }>(
    db,
    sql`select number
        from (
          select distinct on (login, lock_owner, case when is_exclusive then 0 else leg.number end) leg.number
          from leg
          join transfer on transfer.id = transfer_id
          where state = 'INTENT' and is_ready and next_scan_at <= statement_timestamp()
            and ${MAY_BEGIN}
            and (is_enqueued or ordinal > 1 or attempt > 0
                 or leg.created_at < clock_timestamp() - ${requestMs} * interval '1 millisecond')
          order by login, lock_owner, case when is_exclusive then 0 else leg.number end, leg.number
        ) as first_in_queue
        where number > ${after ?? 0n}
        order by number
        limit ${limit}`,
  );
  return rows.map((row) => legNumber(row.number));
}

/** The instant at which the next scan is due, or at which the next sent leg counts as lost; null without one. */
export function nextLost(answerMs: number): Fragment {
  return fragment`least(
    (select min(next_scan_at) from leg where state = 'UNKNOWN'),
    (select min(permit_expires_at) + ${answerMs} * interval '1 millisecond' from attempt where state = 'SENDING')
  )`;
}

/** Legs whose permit and answer time have ended without a report from their sender. */
export async function listOverdue(db: Queryable, answerMs: number, limit: number): Promise<LegNumber[]> {
  const rows = await many<{ number: bigint }>(
    db,
    sql`select leg.number
        from leg
        join attempt on leg_number = leg.number and attempt.number = leg.attempt
        where leg.state = 'SENDING'
          and permit_expires_at < clock_timestamp() - ${answerMs} * interval '1 millisecond'
        order by leg.number
        limit ${limit}`,
  );
  return rows.map((row) => legNumber(row.number));
}

/** Claims UNKNOWN legs with a due scan for this process, which schedules their next scan. */
export async function claimToScan(db: Queryable, claimMs: number, limit: number): Promise<LegNumber[]> {
  const rows = await many<{ number: bigint }>(
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
  return rows.map((row) => legNumber(row.number));
}
