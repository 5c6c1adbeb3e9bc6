import { execute, many, type Queryable, sql } from "../postgres/query.ts";
import { type CaseRow, caseFrom, type ReviewCase } from "./case-row.ts";

/** Decisions whose effect is not complete and that are due, the oldest first. */
export async function listUnfinished(db: Queryable, at: Date, limit: number): Promise<ReviewCase[]> {
  const rows = await many<CaseRow>(
    db,
    sql`select * from review_case_row where "nextTryAt" <= ${at} order by "nextTryAt", id limit ${limit}`,
  );
  return rows.map(caseFrom);
}

/** Records that a decision is carried out completely. True for the call that recorded it. */
export async function markFinished(db: Queryable, id: bigint, at: Date): Promise<boolean> {
  const rows = await execute(
    db,
    sql`update review_case set done_at = ${at}, next_try_at = null, last_error = null
        where id = ${id} and state = 'DECIDED' and done_at is null`,
  );
  return rows === 1;
}

/** Records a failed attempt and schedules the next one. */
export async function delayUnfinished(db: Queryable, id: bigint, nextTryAt: Date, lastError: string): Promise<void> {
  await execute(
    db,
    sql`update review_case set next_try_at = ${nextTryAt}, tries = tries + 1, last_error = ${lastError}
        where id = ${id} and state = 'DECIDED' and done_at is null`,
  );
}
