import { many, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { operationNumber, type OperationNumber } from "../domain/operation-number.ts";
import { operationOf, type OperationRow, type RecordedOperation } from "./operation-row.ts";

/** Locks an operation. Callers lock its account first, always in this order. */
export async function lockOperation(tx: Transaction, number: OperationNumber): Promise<RecordedOperation> {
  const row = await one<OperationRow>(
    tx,
    sql`select number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_ready, state, came_from, refusal,
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, lock_owner, legs,
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
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, lock_owner, legs,
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
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, lock_owner, legs,
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
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, lock_owner, legs,
               comment, is_enqueued, request_id, is_late, is_early
        from recorded_operation
        where transfer_id = any (${transferIds}::bigint[])
        order by transfer_id, leg`,
  );
  return Map.groupBy(rows.map(operationOf), ({ transferId }) => transferId);
}

/** Operations of a login with a permit and an unknown outcome. */
export async function listUnderWay(db: Queryable, login: string): Promise<RecordedOperation[]> {
  const rows = await many<OperationRow>(
    db,
    sql`select number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_ready, state, came_from, refusal,
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, lock_owner, legs,
               comment, is_enqueued, request_id, is_late, is_early
        from recorded_operation
        where login = ${login}
          and state in ('SENDING', 'UNKNOWN', 'REVIEW')
          and coalesce(came_from, state) in ('SENDING', 'UNKNOWN')
        order by number`,
  );
  return rows.map(operationOf);
}

/** Locks several operations, in the order of their numbers. */
export async function lockOperations(tx: Transaction, numbers: readonly bigint[]): Promise<RecordedOperation[]> {
  const rows = await many<OperationRow>(
    tx,
    sql`select number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_ready, state, came_from, refusal,
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, lock_owner, legs,
               comment, is_enqueued, request_id, is_late, is_early
        from recorded_operation
        where number = any (${numbers}::bigint[])
        order by number
        for no key update`,
  );
  return rows.map(operationOf);
}

/** Locks the second legs that may be sent now; as credits they do not wait for other operations of their login. */
export async function lockReadyCredits(tx: Transaction, transferIds: readonly bigint[]): Promise<RecordedOperation[]> {
  const rows = await many<OperationRow>(
    tx,
    sql`select number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_ready, state, came_from, refusal,
               platform_code, review, attempt, absences, deal_id, applied_at, created_at, changed_at, key, lock_owner, legs,
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

/** Applied operations with one of these tickets, on any login. */
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

/** Longer than a deal may take to appear; a deal that is still missing then is reported as deleted and delays no read. */
const BACK_MINUTES = 10;

/**
 * Whether an operation of a Master was applied before this instant and its deal is in no log yet, because no read has shown
 * it. Compares times of the database as well: `applied_at` may come from another clock.
 */
export async function hasUnreadBefore(db: Queryable, server: string, login: string, before: Date): Promise<boolean> {
  const { has } = await one<{ has: boolean }>(
    db,
    sql`select exists (
          select
          from operation
          join account on account.login = operation.login
          where operation.login = ${login} and account.role = 'master' and operation.server = ${server}
            and operation.deal_id is not null and operation.state = 'APPLIED' and operation.changed_at < ${before}::timestamptz
            and operation.changed_at > ${before}::timestamptz - ${BACK_MINUTES} * interval '1 minute'
            and operation.applied_at > ${before}::timestamptz - ${BACK_MINUTES} * interval '1 minute'
            and not exists (
              select
              from log_entry
              where log_entry.server = operation.server and log_entry.deal_id = operation.deal_id
                and log_entry.kind <> 'amendment'
            )
        ) as has`,
  );
  return has;
}
