import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { OperationKind } from "../domain/operation-kind.ts";
import { operationNumber, type OperationNumber } from "../domain/operation-number.ts";

/** An applied operation whose deal has to be looked for. */
export type DueLook = {
  readonly number: OperationNumber;
  readonly login: string;
  readonly kind: OperationKind;
  readonly amountMinor: bigint;
  readonly attempt: number;
  readonly ticket: bigint;
  readonly appliedAt: Date;
  /** How many looks have found it. */
  readonly looks: number;
};

type LookRow = {
  number: bigint;
  login: string;
  kind: OperationKind;
  amount_minor: bigint;
  attempt: number;
  deal_id: bigint;
  applied_at: Date;
  looks: number;
};

/** Claims looks that are due, so that of several processes one looks. Whoever claimed says when the next one is. */
export async function claimDealLooks(db: Queryable, claimMs: number, limit: number): Promise<DueLook[]> {
  const rows = await many<LookRow>(
    db,
    sql`update operation
        set next_scan_at = clock_timestamp() + ${claimMs} * interval '1 millisecond'
        where number in (
          select number
          from operation
          where state = 'APPLIED' and looks < 3 and next_scan_at <= clock_timestamp()
          order by next_scan_at
          limit ${limit}
          for no key update skip locked
        )
        returning number, login, kind, amount_minor, attempt, deal_id, applied_at, looks`,
  );
  return rows.map((row) => ({
    number: operationNumber(row.number),
    login: row.login,
    kind: row.kind,
    amountMinor: row.amount_minor,
    attempt: row.attempt,
    ticket: row.deal_id,
    appliedAt: row.applied_at,
    looks: row.looks,
  }));
}

/** The deal was there. Without a time there is no further look. */
export async function saveLook(db: Queryable, { number, looks }: DueLook, nextAt: Date | undefined): Promise<void> {
  await execute(
    db,
    sql`update operation
        set looks = looks + 1, next_scan_at = coalesce(${nextAt}::timestamptz, next_scan_at)
        where number = ${number} and state = 'APPLIED' and looks = ${looks}`,
  );
}

/** It was not there, or could not be looked for, and it is too early to say anything. */
export async function putOffLook(db: Queryable, { number, looks }: DueLook, until: Date): Promise<void> {
  await execute(
    db,
    sql`update operation
        set next_scan_at = ${until}
        where number = ${number} and state = 'APPLIED' and looks = ${looks}`,
  );
}
