import { maybeOne, one, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** Something that does not fit, as it is on record for ever. */
export type FindingRow = {
  readonly login: string;
  readonly operation: bigint | undefined;
  readonly reason: string;
  readonly server: string | undefined;
  readonly dealId: bigint | undefined;
  /** How often the deal had been corrected by then. */
  readonly dealState: number;
  /** What is known, in plain values; amounts as text. */
  readonly evidence: Readonly<Record<string, unknown>>;
};

export type InsertedFinding = {
  readonly id: bigint;
  /** Sum of the log of the login before what is being recorded; undefined for a login that is not managed. */
  readonly logMinor: bigint | undefined;
};

/** Once per finding, however often it is seen again. */
export async function insertFinding(tx: Transaction, finding: FindingRow): Promise<InsertedFinding | undefined> {
  const row = await maybeOne<{ id: bigint }>(
    tx,
    sql`insert into review (login, operation_number, reason, server, deal_id, deal_state, evidence)
        values (${finding.login}, ${finding.operation}, ${finding.reason}, ${finding.server}, ${finding.dealId},
                ${finding.dealState}, ${JSON.stringify(finding.evidence)}::jsonb)
        on conflict do nothing
        returning id`,
  );
  if (row === undefined) return undefined;
  const log = await maybeOne<{ log_minor: bigint }>(
    tx,
    sql`select log_minor from account where login = ${finding.login}`,
  );
  return { id: row.id, logMinor: log?.log_minor };
}

/** Whether a deal with the reference of this operation was seen on another login. */
export async function hasMisplacedDeal(db: Queryable, operationNumber: bigint): Promise<boolean> {
  const row = await maybeOne(
    db,
    sql`select id
        from review
        where operation_number = ${operationNumber} and reason = 'misplaced_reference'
        limit 1`,
  );
  return row !== undefined;
}

/** Id of the review by whose decision a deal was taken back. */
export async function findReversal(tx: Transaction, login: string, dealId: bigint): Promise<bigint | undefined> {
  const row = await maybeOne<{ id: bigint }>(
    tx,
    sql`select id
        from review_case
        where login = ${login} and deal_id = ${dealId} and state = 'DECIDED' and action = 'reverse'
        order by id
        limit 1`,
  );
  return row?.id;
}

/** Whether people are asked about the past of a deal. */
export async function isBeforePeople(tx: Transaction, login: string, dealId: bigint): Promise<boolean> {
  const { is } = await one<{ is: boolean }>(
    tx,
    sql`select exists (
          select
          from review_case
          where login = ${login} and deal_id = ${dealId} and state in ('OPEN', 'PROPOSED')
            and 'correct_log' = any (actions)
        ) as is`,
  );
  return is;
}
