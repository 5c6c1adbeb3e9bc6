import { matchesRow, type Queryable, sql } from "#kernel/postgres/query.ts";
import { HISTORY_CHANGED } from "../domain/review-actions.ts";

/** Whether a leg of the login waits or has no certain outcome, a saga has its account lock, or its changed history is not decided. */
export async function hasOpenOperation(db: Queryable, login: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select from leg where login = ${login} and state = 'INTENT' and is_ready
        union all
        select from leg where login = ${login} and state in ('SENDING', 'UNKNOWN', 'REVIEW')
        union all
        select from account where login = ${login} and locked_by is not null
        union all
        select from review_case where login = ${login} and reason = ${HISTORY_CHANGED} and state in ('OPEN', 'PROPOSED')`,
  );
}
