import assert from "node:assert/strict";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { operationOf } from "./operation-row.ts";
import type { OperationRow, RecordedOperation } from "./operation-row.ts";

/** Several at once, in the order of their numbers. */
export async function lockOperations(tx: Transaction, numbers: readonly bigint[]): Promise<RecordedOperation[]> {
  const rows = await many<OperationRow>(
    tx,
    sql`select number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_ready, state, came_from, refusal,
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, holder, legs,
               comment, is_enqueued, request_id, is_late, is_early
        from recorded_operation
        where number = any (${numbers}::bigint[])
        order by number
        for no key update`,
  );
  return rows.map(operationOf);
}

/**
 * Steps from SENDING or UNKNOWN to APPLIED, all of them decided from what the transaction has locked. Their attempts end
 * with them: the answers were read whole.
 */
export async function saveApplied(
  tx: Transaction,
  { server, nextLookInMs }: { readonly server: string; readonly nextLookInMs: number | undefined },
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
            next_look_at = coalesce(clock_timestamp() + ${nextLookInMs}::integer * interval '1 millisecond', next_look_at)
        from answer
        where number = operation_number and attempt = of_attempt and state in ('SENDING', 'UNKNOWN')`,
  );
  assert.equal(saved, applied.length, "an operation moved while it was locked");
}

/** Steps from INTENT to SENDING under the next attempt, decided from what the transaction has locked. */
export async function saveSending(tx: Transaction, sending: readonly RecordedOperation[]): Promise<void> {
  const saved = await execute(
    tx,
    sql`update operation
        set state = 'SENDING', attempt = attempt + 1, changed_at = clock_timestamp()
        from unnest(
          ${sending.map(({ number }) => number)}::bigint[],
          ${sending.map(({ standing }) => standing.attempt)}::smallint[]
        ) as permitted (operation_number, last_attempt)
        where number = operation_number and attempt = last_attempt and state = 'INTENT'`,
  );
  assert.equal(saved, sending.length, "an operation moved while it was locked");
}

/** Second legs that may be sent now and that no other operation of their login stands in the way of. */
export async function lockReadyCredits(tx: Transaction, transferIds: readonly bigint[]): Promise<RecordedOperation[]> {
  const rows = await many<OperationRow>(
    tx,
    sql`select number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_ready, state, came_from, refusal,
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, holder, legs,
               comment, is_enqueued, request_id, is_late, is_early
        from recorded_operation
        where number in (
            select number
            from operation
            where transfer_id = any (${transferIds}::bigint[]) and leg = 2 and is_ready and not is_exclusive
          )
          and state = 'INTENT' and not is_early
        order by number
        for no key update`,
  );
  return rows.map(operationOf);
}
