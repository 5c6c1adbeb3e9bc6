import assert from "node:assert/strict";
import { execute, many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { legNumber, type LegNumber } from "../domain/leg-number.ts";
import type { Leg } from "../domain/leg.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import type { RecordedLeg } from "./leg-row.ts";

type SavedTransition = {
  readonly to: Leg;
  readonly nextScanInMs: number | undefined;
  readonly server: string;
  readonly appliedAt: Date | undefined;
};

/** Writes a transition; throws if the leg is no longer in the state that the transition was decided from. */
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
 * Transitions from SENDING or UNKNOWN to APPLIED, for those legs that still wait for this attempt and whose deal no leg and no
 * log has; returns their numbers. Their attempts end, too: the answers were read whole. The accounts are locked.
 */
export async function saveApplied(
  tx: Transaction,
  { server, nextScanInMs }: { readonly server: string; readonly nextScanInMs: number | undefined },
  applied: readonly { readonly number: bigint; readonly attempt: number; readonly ticket: bigint; readonly at: Date }[],
): Promise<ReadonlySet<bigint>> {
  const rows = await many<{ number: bigint }>(
    tx,
    sql`with answer as (
          select leg_number, of_attempt, ticket, at
          from unnest(
            ${applied.map(({ number }) => number)}::bigint[],
            ${applied.map(({ attempt }) => attempt)}::smallint[],
            ${applied.map(({ ticket }) => ticket)}::bigint[],
            ${applied.map(({ at }) => at)}::timestamptz[]
          ) as answer (leg_number, of_attempt, ticket, at)
          where not exists (select from leg where leg.server = ${server} and leg.deal_id = ticket)
            and not exists (
              select from log_entry
              where log_entry.server = ${server} and log_entry.deal_id = ticket and log_entry.kind <> 'amendment'
            )
            and not exists (
              select from adopted_deal where adopted_deal.server = ${server} and adopted_deal.deal_id = ticket
            )
        ), applied as (
          update leg
          set state = 'APPLIED', server = ${server}, deal_id = ticket, applied_at = at, changed_at = clock_timestamp(),
              next_scan_at = coalesce(clock_timestamp() + ${nextScanInMs}::integer * interval '1 millisecond', next_scan_at)
          from answer
          where number = leg_number and attempt = of_attempt and state in ('SENDING', 'UNKNOWN') and deal_id is null
          returning leg.number, leg.attempt
        ), ended as (
          update attempt
          set state = case when state in ('SENDING', 'UNKNOWN') then 'APPLIED' else state end,
              fenced_at = coalesce(fenced_at, clock_timestamp()), answer_code = 0
          from applied
          where attempt.leg_number = applied.number and attempt.number = applied.attempt
        )
        select number from applied`,
  );
  return new Set(rows.map(({ number }) => number));
}

/** Transitions from INTENT to SENDING with the next attempt, decided from rows that this transaction has locked. */
export async function saveSending(tx: Transaction, sending: readonly RecordedLeg[]): Promise<void> {
  const saved = await execute(
    tx,
    sql`update leg
        set state = 'SENDING', attempt = attempt + 1, changed_at = clock_timestamp()
        from unnest(
          ${sending.map(({ number }) => number)}::bigint[],
          ${sending.map(({ status }) => status.attempt)}::smallint[]
        ) as permitted (leg_number, last_attempt)
        where number = leg_number and attempt = last_attempt and state = 'INTENT'`,
  );
  assert.equal(saved, sending.length, "A leg changed while it was locked.");
}

export type NewLeg = {
  readonly transferId: bigint;
  readonly ordinal: number;
  readonly login: string;
  readonly requestedMinor: bigint;
  readonly amountMinor: bigint;
  readonly isReady: boolean;
  /** Its first status: waiting, permitted, or refused at once. */
  readonly status: Extract<Leg, { state: "INTENT" | "SENDING" | "REFUSED" }>;
};

/** Inserts legs and returns their numbers, in the same order. */
export async function insertLegs(tx: Transaction, legs: readonly NewLeg[]): Promise<LegNumber[]> {
  const rows = await many<{ number: bigint }>(
    tx,
    sql`insert into leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready,
                               state, refusal, attempt)
        select nextval('leg_number'), transfer_id, ordinal, login, kind, requested, amount, is_exclusive, is_ready, state,
               refusal, attempt
        from (
          select transfer_id, ordinal, login, kind, requested, amount, is_exclusive, is_ready, state, refusal, attempt
          from unnest(
            ${legs.map(({ transferId }) => transferId)}::bigint[],
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
          ) with ordinality as ordered (transfer_id, ordinal, login, kind, requested, amount, is_exclusive, is_ready, state,
                                       refusal, attempt, rank)
          order by rank
        ) as in_order
        returning number`,
  );
  return rows.map(({ number }) => legNumber(number));
}

const DEAL_CONSTRAINTS = new Set(["leg_deal", "log_entry_deal"]);

/** Whether another transaction booked the deal between the check and the commit. */
export function isDealTaken(error: unknown): boolean {
  return DEAL_CONSTRAINTS.has(violatedConstraint(error) ?? "");
}
