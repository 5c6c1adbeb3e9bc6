import { execute, many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import type { Leg } from "../domain/leg.ts";
import { type NewAttempt, PERMIT_END, permitRows } from "./attempts.ts";
import { PERMITTED_HERE } from "./database-identity.ts";

export type NewLeg = {
  readonly number: LegNumber;
  readonly ordinal: number;
  readonly login: string;
  readonly requestedMinor: bigint;
  readonly amountMinor: bigint;
  readonly isReady: boolean;
  /** Its first status: waiting, permitted, or refused at once. */
  readonly status: Extract<Leg, { state: "INTENT" | "SENDING" | "REFUSED" }>;
};

export type NewTransfer = {
  readonly key: string;
  readonly lockOwner: string;
  readonly legCount: number;
  readonly isEnqueued: boolean;
  readonly releasesLock: boolean;
  readonly sendBefore: Date | undefined;
  /** Of the permits; undefined when the amount does not depend on the books. */
  readonly generation: bigint | undefined;
  readonly comment: string;
  readonly requestId: string;
  readonly legs: readonly NewLeg[];
  /** Of the first leg, which is SENDING then. */
  readonly permit: NewAttempt | undefined;
};

/**
 * Inserts transfers with their legs and permits, and returns their ids by key. Leaves out keys that are recorded already:
 * their first order counts.
 */
export async function insertTransfers(
  tx: Transaction,
  transfers: readonly NewTransfer[],
): Promise<ReadonlyMap<string, bigint>> {
  const legs = transfers.flatMap(({ key, legs: own }) => own.map((leg) => ({ ...leg, key })));
  const permits = transfers.flatMap(({ permit }) => permit ?? []);
  const rows = await many<{ id: bigint; key: string }>(
    tx,
    sql`with recorded as (
          insert into transfer (key, lock_owner, leg_count, is_enqueued, releases_lock, send_before, generation,
                                comment, request_id)
          select key, lock_owner, leg_count, is_enqueued, releases_lock, send_before, generation, comment, request_id
          from unnest(
            ${transfers.map(({ key }) => key)}::text[],
            ${transfers.map(({ lockOwner }) => lockOwner)}::text[],
            ${transfers.map(({ legCount }) => legCount)}::smallint[],
            ${transfers.map(({ isEnqueued }) => isEnqueued)}::boolean[],
            ${transfers.map(({ releasesLock }) => releasesLock)}::boolean[],
            ${transfers.map(({ sendBefore }) => sendBefore)}::timestamptz[],
            ${transfers.map(({ generation }) => generation)}::bigint[],
            ${transfers.map(({ comment }) => comment)}::text[],
            ${transfers.map(({ requestId }) => requestId)}::text[]
          ) as ordered (key, lock_owner, leg_count, is_enqueued, releases_lock, send_before, generation, comment,
                        request_id)
          order by key
          on conflict (key) do nothing
          returning id, key
        ), added as (
          insert into leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready,
                           state, refusal, attempt)
          select number, id, ordinal, login, kind, requested, amount, is_exclusive, is_ready, state, refusal, attempt
          from unnest(
            ${legs.map(({ key }) => key)}::text[],
            ${legs.map(({ number }) => number)}::bigint[],
            ${legs.map(({ ordinal }) => ordinal)}::smallint[],
            ${legs.map(({ login }) => login)}::text[],
            ${legs.map(({ status }) => status.kind)}::text[],
            ${legs.map(({ requestedMinor }) => requestedMinor)}::bigint[],
            ${legs.map(({ amountMinor }) => amountMinor)}::bigint[],
            ${legs.map(({ status }) => LEG_KINDS[status.kind].exclusive)}::boolean[],
            ${legs.map(({ isReady }) => isReady)}::boolean[],
            ${legs.map(({ status }) => status.state)}::text[],
            ${legs.map(({ status }) => (status.state === "REFUSED" ? status.reason : undefined))}::text[],
            ${legs.map(({ status }) => status.attempt)}::smallint[]
          ) as ordered (of_key, number, ordinal, login, kind, requested, amount, is_exclusive, is_ready, state, refusal,
                        attempt)
          join recorded on key = of_key
          returning number
        ), permitted as (
          insert into attempt (leg_number, number, reference, state, sender_epoch, database, session, permit_expires_at)
          select leg, of_leg, reference, 'SENDING', epoch, ${PERMITTED_HERE}, session, ${PERMIT_END}
          from ${permitRows(permits)}
          join added on number = leg
        )
        select id, key from recorded`,
  );
  return new Map(rows.map(({ id, key }) => [key, id]));
}

/** Marks the leg that waited for an earlier one as ready. */
export async function readyNextLegs(tx: Transaction, transferId: bigint): Promise<void> {
  await execute(
    tx,
    sql`update leg
        set is_ready = true, next_scan_at = clock_timestamp(), changed_at = clock_timestamp()
        where transfer_id = ${transferId} and not is_ready and state = 'INTENT'`,
  );
}
