import assert from "node:assert/strict";
import { execute, many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { operationNumber, type OperationNumber } from "../domain/operation-number.ts";
import type { Operation } from "../domain/operation.ts";
import { OPERATION_KINDS } from "../domain/operation-kind.ts";
import type { RecordedOperation } from "./operation-row.ts";

type SavedTransition = {
  readonly to: Operation;
  readonly nextScanInMs: number | undefined;
  readonly server: string;
  readonly appliedAt: Date | undefined;
};

/** Writes a transition; throws if the operation is no longer in the state that the transition was decided from. */
export async function saveTransition(
  tx: Transaction,
  from: RecordedOperation,
  transition: SavedTransition,
): Promise<void> {
  const { to, server, appliedAt, nextScanInMs } = transition;
  const ticket = to.state === "APPLIED" ? to.ticket : undefined;
  const [refusal, platformCode] = to.state === "REFUSED" ? [to.reason, to.platformCode] : [undefined, undefined];
  const [review, cameFrom] = to.state === "REVIEW" ? [to.reason, to.cameFrom] : [undefined, undefined];
  await one(
    tx,
    sql`update operation
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

export async function setNextScan(db: Queryable, number: OperationNumber, at: Date): Promise<void> {
  await execute(
    db,
    sql`update operation
        set next_scan_at = ${at}
        where number = ${number} and state in ('INTENT', 'UNKNOWN')`,
  );
}

/**
 * Transitions from SENDING or UNKNOWN to APPLIED, decided from rows that this transaction has locked. Their attempts end,
 * too: the answers were read whole.
 */
export async function saveApplied(
  tx: Transaction,
  { server, nextScanInMs }: { readonly server: string; readonly nextScanInMs: number | undefined },
  applied: readonly { readonly number: bigint; readonly attempt: number; readonly ticket: bigint; readonly at: Date }[],
): Promise<void> {
  const saved = await execute(
    tx,
    sql`with answer as (
          select operation_number, of_attempt, ticket, at
          from unnest(
            ${applied.map(({ number }) => number)}::bigint[],
            ${applied.map(({ attempt }) => attempt)}::smallint[],
            ${applied.map(({ ticket }) => ticket)}::bigint[],
            ${applied.map(({ at }) => at)}::timestamptz[]
          ) as answer (operation_number, of_attempt, ticket, at)
        ), ended as (
          update attempt
          set state = case when state in ('SENDING', 'UNKNOWN') then 'APPLIED' else state end,
              fenced_at = coalesce(fenced_at, clock_timestamp()), answer_code = 0
          from answer
          where attempt.operation_number = answer.operation_number and attempt.number = of_attempt
        )
        update operation
        set state = 'APPLIED', server = ${server}, deal_id = ticket, applied_at = at, changed_at = clock_timestamp(),
            next_scan_at = coalesce(clock_timestamp() + ${nextScanInMs}::integer * interval '1 millisecond', next_scan_at)
        from answer
        where number = operation_number and attempt = of_attempt and state in ('SENDING', 'UNKNOWN')`,
  );
  assert.equal(saved, applied.length, "An operation changed while it was locked.");
}

/** Transitions from INTENT to SENDING with the next attempt, decided from rows that this transaction has locked. */
export async function saveSending(tx: Transaction, sending: readonly RecordedOperation[]): Promise<void> {
  const saved = await execute(
    tx,
    sql`update operation
        set state = 'SENDING', attempt = attempt + 1, changed_at = clock_timestamp()
        from unnest(
          ${sending.map(({ number }) => number)}::bigint[],
          ${sending.map(({ status }) => status.attempt)}::smallint[]
        ) as permitted (operation_number, last_attempt)
        where number = operation_number and attempt = last_attempt and state = 'INTENT'`,
  );
  assert.equal(saved, sending.length, "An operation changed while it was locked.");
}

export type NewOperation = {
  readonly transferId: bigint;
  readonly leg: number;
  readonly login: string;
  readonly askedMinor: bigint;
  readonly amountMinor: bigint;
  readonly isReady: boolean;
  /** Its first status: waiting, permitted, or refused at once. */
  readonly status: Extract<Operation, { state: "INTENT" | "SENDING" | "REFUSED" }>;
};

/** Inserts operations and returns their numbers, in the same order. */
export async function insertOperations(
  tx: Transaction,
  operations: readonly NewOperation[],
): Promise<OperationNumber[]> {
  const rows = await many<{ number: bigint }>(
    tx,
    sql`insert into operation (number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_exclusive, is_ready,
                               state, refusal, attempt)
        select nextval('operation_number'), transfer_id, leg, login, kind, asked, amount, is_exclusive, is_ready, state,
               refusal, attempt
        from (
          select transfer_id, leg, login, kind, asked, amount, is_exclusive, is_ready, state, refusal, attempt
          from unnest(
            ${operations.map(({ transferId }) => transferId)}::bigint[],
            ${operations.map(({ leg }) => leg)}::smallint[],
            ${operations.map(({ login }) => login)}::text[],
            ${operations.map(({ status }) => status.kind)}::text[],
            ${operations.map(({ askedMinor }) => askedMinor)}::bigint[],
            ${operations.map(({ amountMinor }) => amountMinor)}::bigint[],
            ${operations.map(({ status }) => OPERATION_KINDS[status.kind].exclusive)}::boolean[],
            ${operations.map(({ isReady }) => isReady)}::boolean[],
            ${operations.map(({ status }) => status.state)}::text[],
            ${operations.map(({ status }) => (status.state === "REFUSED" ? status.reason : undefined))}::text[],
            ${operations.map(({ status }) => status.attempt)}::smallint[]
          ) with ordinality as ordered (transfer_id, leg, login, kind, asked, amount, is_exclusive, is_ready, state,
                                       refusal, attempt, ordinal)
          order by ordinal
        ) as in_order
        returning number`,
  );
  return rows.map(({ number }) => operationNumber(number));
}

const DEAL_CONSTRAINTS = new Set(["operation_deal", "log_entry_deal"]);

/** Whether another transaction booked the deal between the check and the commit. */
export function isDealTaken(error: unknown): boolean {
  return DEAL_CONSTRAINTS.has(violatedConstraint(error) ?? "");
}
