import assert from "node:assert/strict";
import { execute, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import type { Leg } from "../domain/leg.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { type NewAttempt, PERMIT_END, permitRows } from "./attempts.ts";
import { NEXT_LEG_NUMBER, PERMITTED_HERE } from "./database-identity.ts";
import type { RecordedLeg } from "./leg-row.ts";

type SavedTransition = {
  readonly to: Leg;
  readonly nextScanInMs: number | undefined;
  readonly server: string;
  readonly appliedAt: Date | undefined;
};

/**
 * Writes a transition; throws if the leg is no longer in the state that the transition was decided from. A leg with a new deal is
 * unlogged until its entry is inserted.
 */
export async function saveTransition(tx: Transaction, from: RecordedLeg, transition: SavedTransition): Promise<void> {
  const { to, server, appliedAt, nextScanInMs } = transition;
  const ticket = to.state === "APPLIED" ? to.ticket : undefined;
  const [refusal, platformCode] = to.state === "REFUSED" ? [to.reason, to.platformCode] : [undefined, undefined];
  const [review, cameFrom] = to.state === "REVIEW" ? [to.reason, to.cameFrom] : [undefined, undefined];
  await one(
    tx,
    sql`update leg
        set state = ${to.state},
            attempt = ${to.attempt},
            absences = ${to.absences},
            refusal = coalesce(${refusal}::text, refusal),
            platform_code = coalesce(${platformCode}::integer, platform_code),
            review = coalesce(${review}::text, review),
            came_from = ${cameFrom},
            next_scan_at = coalesce(clock_timestamp() + ${nextScanInMs}::integer * interval '1 millisecond', next_scan_at),
            server = coalesce(server, case when ${ticket}::bigint is not null then ${server}::text end),
            deal_id = coalesce(deal_id, ${ticket}::bigint),
            applied_at = coalesce(applied_at, case when ${ticket}::bigint is not null then ${appliedAt}::timestamptz end),
            changed_at = clock_timestamp()
        where number = ${from.number} and state = ${from.status.state} and attempt = ${from.status.attempt}
        returning number`,
  );
  if (ticket === undefined || from.dealId !== undefined) return;
  await execute(tx, sql`insert into unlogged_leg (login, leg_number) values (${from.login}, ${from.number})`);
}

export async function setNextScan(db: Queryable, number: LegNumber, at: Date): Promise<void> {
  await execute(
    db,
    sql`update leg
        set next_scan_at = ${at}
        where number = ${number} and state in ('INTENT', 'UNKNOWN')`,
  );
}

/**
 * Transitions from INTENT to SENDING, each with its next attempt, decided from rows that this transaction has locked. An order
 * that is recorded and permitted at once is inserted with its permit instead.
 */
export async function saveSending(tx: Transaction, permits: readonly NewAttempt[]): Promise<void> {
  const saved = await execute(
    tx,
    sql`with permit as (
          select leg, of_leg, reference, epoch, session
          from ${permitRows(permits)}
        ), sending as (
          update leg
          set state = 'SENDING', attempt = attempt + 1, changed_at = clock_timestamp()
          from (select leg, of_leg - 1 as last_attempt from permit) as permitted
          where number = leg and attempt = last_attempt and state = 'INTENT'
          returning leg.number
        )
        insert into attempt (leg_number, number, reference, state, sender_epoch, database, session, permit_expires_at)
        select leg, of_leg, reference, 'SENDING', epoch, ${PERMITTED_HERE}, session, ${PERMIT_END}
        from permit
        join sending on number = leg`,
  );
  assert.equal(saved, permits.length, "A leg changed while it was locked.");
}

/** Records the reversal of the first leg of a transfer, which waits for its permit. */
export async function insertReversal(
  tx: Transaction,
  reversal: Pick<RecordedLeg, "transferId" | "ordinal" | "login" | "amountMinor">,
): Promise<void> {
  const { transferId, ordinal, login, amountMinor } = reversal;
  await execute(
    tx,
    sql`insert into leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready, state)
        values (${NEXT_LEG_NUMBER}, ${transferId}, ${ordinal}, ${login}, 'reversal', ${amountMinor}, ${amountMinor},
                ${LEG_KINDS.reversal.exclusive}, true, 'INTENT')`,
  );
}

const DEAL_CONSTRAINTS = new Set(["leg_deal", "log_entry_deal"]);

/** Whether another transaction booked the deal between the check and the commit. */
export function isDealTaken(error: unknown): boolean {
  return DEAL_CONSTRAINTS.has(violatedConstraint(error) ?? "");
}
