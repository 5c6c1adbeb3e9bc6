import { column, many, matchesRow, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** A finding; its row never changes. */
type FindingRow = {
  readonly login: string;
  readonly leg: bigint | undefined;
  readonly reason: string;
  readonly server: string | undefined;
  readonly dealId: bigint | undefined;
  /** Evidence in plain values; amounts as text. */
  readonly evidence: Readonly<Record<string, unknown>>;
};

type InsertedFinding = {
  readonly id: bigint;
  /** Sum of the login's log when the finding is recorded; null for a login that is not managed. */
  readonly logMinor: bigint | null;
};

/** Inserts a finding; undefined when it was recorded before. */
export async function insertFinding(tx: Transaction, finding: FindingRow): Promise<InsertedFinding | undefined> {
  return await maybeOne<InsertedFinding>(
    tx,
    sql`insert into finding (login, leg_number, reason, server, deal_id, evidence)
        values (${finding.login}, ${finding.leg}, ${finding.reason}, ${finding.server}, ${finding.dealId},
                ${JSON.stringify(finding.evidence)}::jsonb)
        on conflict do nothing
        returning id, (select log_minor from account where account.login = finding.login) as "logMinor"`,
  );
}

/** Reviews for these reasons that were opened since an instant and are not decided, oldest first. */
export async function listUndecidedSince(
  db: Queryable,
  reasons: readonly string[],
  since: Date,
  limit: number,
): Promise<bigint[]> {
  return await column<bigint>(
    db,
    sql`select id
        from review_case
        where state in ('OPEN', 'PROPOSED') and reason = any (${reasons}::text[]) and opened_at >= ${since}
        order by id
        limit ${limit}`,
  );
}

/** Whether a deal with the reference of this leg was seen on another login. */
export async function hasMisplacedDeal(db: Queryable, legNumber: bigint): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select where exists (select from finding where leg_number = ${legNumber} and reason = 'misplaced_reference')`,
  );
}

/** Id of the review that decided to reverse a deal. */
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

/** The record of an attempt, as evidence for operators. Contains no secrets. */
type AttemptEvidence = {
  readonly leg: bigint;
  readonly attempt: number;
  readonly reference: string;
  readonly state: string;
  readonly granted_at: Date;
  readonly permit_expires_at: Date;
  readonly fenced_at: Date | null;
  readonly answer_code: number | null;
  readonly answer: string | null;
};

type ScanEvidence = {
  readonly leg: bigint;
  readonly attempt: number;
  readonly started_at: Date;
  readonly verdict: string;
  /** Candidates. */
  readonly tickets: readonly bigint[];
};

export async function listAttemptEvidence(db: Queryable, legs: readonly bigint[]): Promise<AttemptEvidence[]> {
  return await many<AttemptEvidence>(
    db,
    sql`select leg_number as leg, number as attempt, reference, state, granted_at, permit_expires_at, fenced_at,
               answer_code, answer
        from attempt
        where leg_number = any (${legs}::bigint[])
        order by leg_number, number`,
  );
}

/** The last `perAttempt` scans of each attempt, oldest first. */
export async function listScanEvidence(
  db: Queryable,
  legs: readonly bigint[],
  perAttempt: number,
): Promise<ScanEvidence[]> {
  return await many<ScanEvidence>(
    db,
    sql`select leg, attempt, started_at, verdict, tickets
        from (
          select leg_number as leg, attempt, started_at, verdict, tickets,
                 row_number() over (partition by leg_number, attempt order by started_at desc) as recency
          from scan
          where leg_number = any (${legs}::bigint[])
        ) as last
        where recency <= ${perAttempt}
        order by leg, attempt, started_at`,
  );
}

/** Whether operators have taken note of what the subject says, of this amount if it has one, and nothing is to be decided any more. */
export async function isAcknowledged(db: Queryable, subject: string, amount?: bigint): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select from review_case
        where subject = ${subject} and state = 'DECIDED' and action = 'acknowledge'
          and amount_minor is not distinct from ${amount}::bigint`,
  );
}
