import {
  execute,
  type Fragment,
  fragment,
  many,
  matchesRow,
  maybeOne,
  type Queryable,
  sql,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Scan } from "../domain/absence.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import { legNumber, type LegNumber } from "../domain/leg-number.ts";
import type { AttemptState } from "../domain/leg.ts";
import { PERMIT_MS } from "../domain/permit.ts";
import type { RecordedLeg } from "./leg-row.ts";

/** When a permit that is granted now expires. */
export const PERMIT_END = fragment`clock_timestamp() + ${PERMIT_MS} * interval '1 millisecond'`;

export type NewAttempt = {
  readonly leg: LegNumber;
  readonly number: number;
  readonly reference: string;
  readonly senderEpoch: bigint;
  readonly session: string;
};

/** Permits as the rows `permit (leg, of_leg, reference, epoch, session)`; `of_leg` is the number of the attempt. */
export function permitRows(permits: readonly NewAttempt[]): Fragment {
  return fragment`unnest(
            ${permits.map(({ leg }) => leg)}::bigint[],
            ${permits.map(({ number }) => number)}::smallint[],
            ${permits.map(({ reference }) => reference)}::text[],
            ${permits.map(({ senderEpoch }) => senderEpoch)}::bigint[],
            ${permits.map(({ session }) => session)}::text[]
          ) as permit (leg, of_leg, reference, epoch, session)`;
}

/** An attempt and what is known about its sender. */
export type RecordedAttempt = {
  readonly number: number;
  readonly grantedAt: Date;
  readonly permitExpiresAt: Date;
  readonly senderEpoch: bigint;
  readonly session: string;
  readonly senderHeartbeatAt: Date;
  readonly isFenced: boolean;
  /** The answer had a ticket, but the platform showed no deal with it. */
  readonly hasUnconfirmedTicket: boolean;
};

/** Facts from the sender of an attempt; members that are undefined stay as they are. */
export type AttemptFacts = {
  readonly state?: AttemptState | undefined;
  readonly isFenced?: boolean | undefined;
  readonly answerCode?: number | undefined;
  readonly answer?: string | undefined;
};

/** Whether any attempt was, or may have been, sent and has no known outcome. */
export async function hasOpenAttempts(db: Queryable): Promise<boolean> {
  return await matchesRow(db, sql`select where exists (select from attempt where state in ('SENDING', 'UNKNOWN'))`);
}

export async function findAttempt(db: Queryable, leg: LegNumber, number: number): Promise<RecordedAttempt | undefined> {
  return await maybeOne<RecordedAttempt>(
    db,
    sql`select number, granted_at as "grantedAt", permit_expires_at as "permitExpiresAt", sender_epoch as "senderEpoch", session,
               heartbeat_at as "senderHeartbeatAt", fenced_at is not null as "isFenced",
               answer is not distinct from 'not_shown' as "hasUnconfirmedTicket"
        from attempt
        join sender on epoch = sender_epoch
        where leg_number = ${leg} and number = ${number}`,
  );
}

/** Records facts about an attempt. A final state stays: only SENDING and UNKNOWN are replaced. */
export async function markAttempt(db: Queryable, leg: LegNumber, number: number, facts: AttemptFacts): Promise<void> {
  await execute(
    db,
    sql`update attempt
        set state = case when state in ('SENDING', 'UNKNOWN') then coalesce(${facts.state}::text, state) else state end,
            fenced_at = case when ${facts.isFenced ?? false} then coalesce(fenced_at, clock_timestamp())
                             else fenced_at end,
            answer_code = coalesce(${facts.answerCode}::integer, answer_code),
            answer = coalesce(${facts.answer}::text, answer)
        where leg_number = ${leg} and number = ${number}`,
  );
}

/** Fences old attempts of this process that it is not sending: it can write no more of their commands. */
export async function fenceOwnAttempts(
  db: Queryable,
  {
    epoch,
    afterMs,
    inFlight,
  }: { readonly epoch: bigint; readonly afterMs: number; readonly inFlight: readonly bigint[] },
): Promise<void> {
  await execute(
    db,
    sql`update attempt
        set fenced_at = clock_timestamp()
        where sender_epoch = ${epoch} and fenced_at is null and state in ('SENDING', 'UNKNOWN')
          and permit_expires_at < clock_timestamp() - ${afterMs} * interval '1 millisecond'
          and leg_number <> all (${inFlight}::bigint[])`,
  );
}

export async function insertScan(
  db: Queryable,
  leg: LegNumber,
  attempt: number,
  scan: Scan & { readonly tickets: readonly bigint[] },
): Promise<void> {
  await execute(
    db,
    sql`insert into scan (leg_number, attempt, started_at, verdict, tickets)
        values (${leg}, ${attempt}, ${new Date(scan.startedAtMs)}, ${scan.verdict}, ${scan.tickets}::bigint[])
        on conflict do nothing`,
  );
}

export async function listScans(db: Queryable, leg: LegNumber, attempt: number): Promise<Scan[]> {
  const rows = await many<{ started_at: Date; verdict: Scan["verdict"] }>(
    db,
    sql`select started_at, verdict
        from scan
        where leg_number = ${leg} and attempt = ${attempt}
        order by started_at`,
  );
  return rows.map(({ started_at, verdict }) => ({ startedAtMs: started_at.getTime(), verdict }));
}

type AttemptRow = Pick<RecordedLeg, "transferId" | "key" | "login" | "amountMinor" | "dealId" | "comment"> & {
  readonly kind: LegKind;
  readonly leg: bigint;
  readonly number: number;
  readonly state: AttemptState;
  readonly grantedAt: Date;
  readonly permitExpiresAt: Date;
  readonly endedAt: Date | undefined;
  readonly answerCode: number | undefined;
  readonly answer: string;
  /** How often the history had no deal of it, and when it was searched last. */
  readonly searches: number;
  readonly searchedAt: Date | undefined;
};

/** The attempts of the transfers that are recorded under these keys, oldest first. */
export async function listAttemptsByKey(db: Queryable, keys: readonly string[], limit: number) {
  const rows = await many<AttemptRow>(
    db,
    sql`select transfer_id as "transferId", key, comment, leg.number as leg, login, kind, amount_minor as "amountMinor", deal_id as "dealId",
               attempt.number, attempt.state, granted_at as "grantedAt", permit_expires_at as "permitExpiresAt", fenced_at as "endedAt",
               answer_code as "answerCode", coalesce(answer, '') as answer, searches, searched_at as "searchedAt"
        from transfer
             join leg on transfer_id = transfer.id
             join attempt on leg_number = leg.number
             cross join lateral (
               select count(*)::integer as searches, max(started_at) as searched_at
               from scan
               where scan.leg_number = leg.number and scan.attempt = attempt.number
             ) as search
        where key = any (${keys}::text[])
        order by granted_at, leg.number, attempt.number
        limit ${limit}`,
  );
  return rows.map((row) => ({ ...withoutNulls(row), leg: legNumber(row.leg) }));
}
