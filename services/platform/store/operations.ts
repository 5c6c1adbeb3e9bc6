import assert from "node:assert/strict";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { execute, many, maybeOne, one, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { OPERATION_KINDS } from "../domain/operation-kind.ts";
import { operationNumber } from "../protocol/operation-number.ts";
import type { OperationNumber } from "../protocol/operation-number.ts";
import type { Operation } from "../domain/operation.ts";
import { operationOf } from "./operation-row.ts";
import type { OperationRow, RecordedOperation } from "./operation-row.ts";

export type NewOperation = {
  readonly transferId: bigint;
  readonly leg: number;
  readonly login: string;
  readonly askedMinor: bigint;
  readonly amountMinor: bigint;
  readonly isReady: boolean;
  /** Where it stands as it is recorded: waiting, permitted, or refused at once. */
  readonly standing: Extract<Operation, { state: "INTENT" | "SENDING" | "REFUSED" }>;
};

export type SavedStep = {
  readonly to: Operation;
  readonly nextLookInMs: number | undefined;
  readonly server: string;
  readonly appliedAt: Date | undefined;
};

/** Numbered in the order in which they are given. */
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
            ${operations.map(({ standing }) => standing.kind)}::text[],
            ${operations.map(({ askedMinor }) => askedMinor)}::bigint[],
            ${operations.map(({ amountMinor }) => amountMinor)}::bigint[],
            ${operations.map(({ standing }) => OPERATION_KINDS[standing.kind].exclusive)}::boolean[],
            ${operations.map(({ isReady }) => isReady)}::boolean[],
            ${operations.map(({ standing }) => standing.state)}::text[],
            ${operations.map(({ standing }) => (standing.state === "REFUSED" ? standing.reason : undefined))}::text[],
            ${operations.map(({ standing }) => standing.attempt)}::smallint[]
          ) with ordinality as wished (transfer_id, leg, login, kind, asked, amount, is_exclusive, is_ready, state,
                                       refusal, attempt, place)
          order by place
        ) as in_order
        returning number`,
  );
  return rows.map(({ number }) => operationNumber(number));
}

/** Callers lock the account first, always in this order. */
export async function lockOperation(tx: Transaction, number: OperationNumber): Promise<RecordedOperation> {
  const row = await one<OperationRow>(
    tx,
    sql`select number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_ready, state, came_from, refusal,
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, holder, legs,
               comment, is_enqueued, request_id, is_late, is_early
        from recorded_operation
        where number = ${number}
        for no key update`,
  );
  return operationOf(row);
}

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

export async function findOperation(db: Queryable, number: bigint): Promise<RecordedOperation | undefined> {
  const row = await maybeOne<OperationRow>(
    db,
    sql`select number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_ready, state, came_from, refusal,
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, holder, legs,
               comment, is_enqueued, request_id, is_late, is_early
        from recorded_operation
        where number = ${number}`,
  );
  return row && operationOf(row);
}

export async function listLegs(db: Queryable, transferId: bigint): Promise<RecordedOperation[]> {
  const rows = await many<OperationRow>(
    db,
    sql`select number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_ready, state, came_from, refusal,
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, holder, legs,
               comment, is_enqueued, request_id, is_late, is_early
        from recorded_operation
        where transfer_id = ${transferId}
        order by leg`,
  );
  return rows.map(operationOf);
}

/** The legs of several transfers, those of one in their order. */
export async function listLegsOf(
  db: Queryable,
  transferIds: readonly bigint[],
): Promise<ReadonlyMap<bigint, RecordedOperation[]>> {
  const rows = await many<OperationRow>(
    db,
    sql`select number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_ready, state, came_from, refusal,
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, holder, legs,
               comment, is_enqueued, request_id, is_late, is_early
        from recorded_operation
        where transfer_id = any (${transferIds}::bigint[])
        order by transfer_id, leg`,
  );
  return Map.groupBy(rows.map(operationOf), ({ transferId }) => transferId);
}

/** Operations of a login that may have moved money without our knowing. */
export async function listUnderWay(db: Queryable, login: string): Promise<RecordedOperation[]> {
  const rows = await many<OperationRow>(
    db,
    sql`select number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_ready, state, came_from, refusal,
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, holder, legs,
               comment, is_enqueued, request_id, is_late, is_early
        from recorded_operation
        where login = ${login}
          and state in ('SENDING', 'UNKNOWN', 'REVIEW')
          and coalesce(came_from, state) in ('SENDING', 'UNKNOWN')
        order by number`,
  );
  return rows.map(operationOf);
}

const DEAL_CONSTRAINTS = new Set(["operation_deal", "log_entry_deal"]);

/** Somebody else booked the deal between our look and our commit. */
export function isDealTaken(error: unknown): boolean {
  return DEAL_CONSTRAINTS.has(violatedConstraint(error) ?? "");
}

export async function findOperationByDeal(
  db: Queryable,
  server: string,
  dealId: bigint,
): Promise<OperationNumber | undefined> {
  const row = await maybeOne<{ number: bigint }>(
    db,
    sql`select number from operation where server = ${server} and deal_id = ${dealId}`,
  );
  return row && operationNumber(row.number);
}

/** Applied operations that were told one of these tickets, wherever its deal is. */
export async function listOperationsOfDeals(
  db: Queryable,
  server: string,
  deals: readonly bigint[],
): Promise<{ readonly login: string; readonly ticket: bigint; readonly appliedAt: Date }[]> {
  if (deals.length === 0) return [];
  const rows = await many<{ login: string; deal_id: bigint; applied_at: Date }>(
    db,
    sql`select login, deal_id, applied_at
        from operation
        where server = ${server} and deal_id = any (${deals}::bigint[]) and state = 'APPLIED'`,
  );
  return rows.map((row) => ({ login: row.login, ticket: row.deal_id, appliedAt: row.applied_at }));
}

/** One step of the protocol, written only if the operation still stands where the step was decided from. */
export async function saveStep(tx: Transaction, from: RecordedOperation, step: SavedStep): Promise<void> {
  const { to, server, appliedAt, nextLookInMs } = step;
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
            next_look_at = coalesce(clock_timestamp() + ${nextLookInMs}::integer * interval '1 millisecond', next_look_at),
            server = coalesce(server, case when ${ticket}::bigint is not null then ${server}::text end),
            deal_id = coalesce(deal_id, ${ticket}::bigint),
            applied_at = coalesce(applied_at, case when ${ticket}::bigint is not null then ${appliedAt}::timestamptz end),
            changed_at = clock_timestamp()
        where number = ${from.number} and state = ${from.standing.state} and attempt = ${from.standing.attempt}
        returning number`,
  );
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

export async function setNextLook(db: Queryable, number: OperationNumber, at: Date): Promise<void> {
  await execute(
    db,
    sql`update operation
        set next_look_at = ${at}
        where number = ${number} and state in ('INTENT', 'UNKNOWN')`,
  );
}
