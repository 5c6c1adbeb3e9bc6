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

/** The whole effect of a decision is there. True for the one call that said so. */
export async function markFinished(db: Queryable, id: bigint, at: Date): Promise<boolean> {
  const rows = await execute(
    db,
    sql`update review_case set done_at = ${at}, next_try_at = null, last_error = null
        where id = ${id} and state = 'DECIDED' and done_at is null`,
  );
  return rows === 1;
}

/** It did not work this time: why, and when it is tried again. */
export async function delayUnfinished(db: Queryable, id: bigint, nextTryAt: Date, last_error: string): Promise<void> {
  await execute(
    db,
    sql`update review_case set next_try_at = ${nextTryAt}, tries = tries + 1, last_error = ${last_error}
        where id = ${id} and state = 'DECIDED' and done_at is null`,
  );
}
