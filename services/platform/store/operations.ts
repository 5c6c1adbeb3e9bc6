import { execute, many, maybeOne, one, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { OperationNumber } from "../protocol/operation-number.ts";
import type { Operation } from "../domain/operation.ts";
import { operationOf } from "./operation-row.ts";
import type { OperationRow, RecordedOperation } from "./operation-row.ts";

export type SavedStep = {
  readonly to: Operation;
  readonly nextLookInMs: number | undefined;
  readonly server: string;
  readonly appliedAt: Date | undefined;
};

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

export async function setNextLook(db: Queryable, number: OperationNumber, at: Date): Promise<void> {
  await execute(
    db,
    sql`update operation
        set next_look_at = ${at}
        where number = ${number} and state in ('INTENT', 'UNKNOWN')`,
  );
}
