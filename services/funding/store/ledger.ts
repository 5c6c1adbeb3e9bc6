import { column, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { CurrentOutcome } from "../domain/cashflow.ts";

export type LedgerFilter = {
  /** Empty matches all. */
  readonly login: string;
  /** Undefined matches all. */
  readonly comment: string | undefined;
  readonly outcome: CurrentOutcome | undefined;
  /** Id of the last operation of the page before; empty to begin. */
  readonly beforeId: string;
  readonly limit: number;
};

/** Ids of operations, newest first. The outcomes are those of domain/cashflow.ts. */
export async function listOperationIds(db: Queryable, filter: LedgerFilter, now: Date): Promise<string[]> {
  const { login, comment, outcome, beforeId, limit } = filter;
  return await column<string>(
    db,
    sql`select operation_id
        from cashflow
        where (${login} = '' or login = ${login})
          and (${comment ?? null}::text is null or comment = ${comment ?? null})
          and (${beforeId} = '' or operation_id collate "C" < ${beforeId})
          and (${outcome ?? null}::text is null or ${outcome ?? null} =
               case when state = 'POSTED' then 'EXECUTED'
                    when state = 'REFUSED' then 'NOT_EXECUTED'
                    when doubt is not null then doubt
                    when deadline <= ${now} then 'UNKNOWN'
                    else 'PENDING'
               end)
        order by operation_id collate "C" desc
        limit ${limit}`,
  );
}
