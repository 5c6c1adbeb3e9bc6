import { many, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";

/** What is on record about an attempt of an operation. No secret is ever written there. */
export type AttemptEvidence = {
  readonly operation: bigint;
  readonly attempt: number;
  readonly reference: string;
  readonly state: string;
  readonly granted_at: Date;
  readonly permit_expires_at: Date;
  readonly fenced_at: Date | null;
  readonly answer_code: number | null;
  readonly answer: string | null;
};

export type ScanEvidence = {
  readonly operation: bigint;
  readonly attempt: number;
  readonly started_at: Date;
  readonly verdict: string;
  /** Candidates. */
  readonly tickets: readonly bigint[];
};

export async function listAttemptEvidence(db: Queryable, operations: readonly bigint[]): Promise<AttemptEvidence[]> {
  return await many<AttemptEvidence>(
    db,
    sql`select operation_number as operation, number as attempt, reference, state, granted_at, permit_expires_at, fenced_at,
               answer_code, answer
        from attempt
        where operation_number = any (${operations}::bigint[])
        order by operation_number, number`,
  );
}

/** The last ones of each attempt: the first and all between them said the same. */
export async function listScanEvidence(
  db: Queryable,
  operations: readonly bigint[],
  perAttempt: number,
): Promise<ScanEvidence[]> {
  return await many<ScanEvidence>(
    db,
    sql`select operation, attempt, started_at, verdict, tickets
        from (
          select operation_number as operation, attempt, started_at, verdict, tickets,
                 row_number() over (partition by operation_number, attempt order by started_at desc) as place
          from scan
          where operation_number = any (${operations}::bigint[])
        ) as last
        where place <= ${perAttempt}
        order by operation, attempt, started_at`,
  );
}

export async function listLogSums(db: Queryable, logins: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
  const rows = await many<{ login: string; log_minor: bigint }>(
    db,
    sql`select login, log_minor from account where login = any (${logins}::text[])`,
  );
  return new Map(rows.map(({ login, log_minor: sum }) => [login, sum]));
}
