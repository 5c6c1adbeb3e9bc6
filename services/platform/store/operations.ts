import { execute, many, maybeOne, one, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { OperationKind } from "../protocol/operation-kind.ts";
import { OPERATION_KINDS } from "../protocol/operation-kind.ts";
import { operationNumber } from "../protocol/operation-number.ts";
import type { OperationNumber } from "../protocol/operation-number.ts";
import type { Operation, RefusalReason } from "../protocol/operation.ts";
import { operationOf } from "./operation-row.ts";
import type { OperationRow, RecordedOperation } from "./operation-row.ts";

export type NewOperation = {
  readonly transferId: bigint;
  readonly leg: number;
  readonly login: string;
  readonly kind: OperationKind;
  readonly askedMinor: bigint;
  readonly amountMinor: bigint;
  readonly isReady: boolean;
  /** Set when it is refused as it is recorded. */
  readonly refusal?: RefusalReason | undefined;
};

export type SavedStep = {
  readonly to: Operation;
  readonly nextLookInMs: number | undefined;
  readonly server: string;
  readonly appliedAt: Date | undefined;
};

export async function insertOperation(tx: Transaction, operation: NewOperation): Promise<OperationNumber> {
  const { exclusive } = OPERATION_KINDS[operation.kind];
  const { number } = await one<{ number: bigint }>(
    tx,
    sql`insert into operation (number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_exclusive, is_ready,
                               state, refusal)
        values (nextval('operation_number'), ${operation.transferId}, ${operation.leg}, ${operation.login},
                ${operation.kind}, ${operation.askedMinor}, ${operation.amountMinor}, ${exclusive},
                ${operation.isReady}, ${operation.refusal === undefined ? "INTENT" : "REFUSED"}, ${operation.refusal})
        returning number`,
  );
  return operationNumber(number);
}

/** Callers lock the account first, always in this order. */
export async function lockOperation(tx: Transaction, number: OperationNumber): Promise<RecordedOperation> {
  const row = await one<OperationRow>(
    tx,
    sql`select *
        from recorded_operation
        where number = ${number}
        for no key update`,
  );
  return operationOf(row);
}

export async function findOperation(db: Queryable, number: bigint): Promise<RecordedOperation | undefined> {
  const row = await maybeOne<OperationRow>(
    db,
    sql`select *
        from recorded_operation
        where number = ${number}`,
  );
  return row && operationOf(row);
}

export async function listLegs(db: Queryable, transferId: bigint): Promise<RecordedOperation[]> {
  const rows = await many<OperationRow>(
    db,
    sql`select *
        from recorded_operation
        where transfer_id = ${transferId}
        order by leg`,
  );
  return rows.map(operationOf);
}

/** Operations of a login that may have moved money without our knowing. */
export async function listUnderWay(db: Queryable, login: string): Promise<RecordedOperation[]> {
  const rows = await many<OperationRow>(
    db,
    sql`select *
        from recorded_operation
        where login = ${login}
          and state in ('SENDING', 'UNKNOWN', 'REVIEW')
          and coalesce(came_from, state) in ('SENDING', 'UNKNOWN')
        order by number`,
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
