import { maybeOne, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { NewCashflow } from "../domain/cashflow.ts";
import type { ExecutedDuplicate } from "../domain/duplicate.ts";

type Sought = Pick<NewCashflow, "operationId" | "action" | "login" | "amount" | "comment"> & { readonly keyId: string };

/** Id of the equal operation that is still open; at most one is. */
export async function findOpenDuplicate(db: Queryable, sought: Sought): Promise<string | undefined> {
  const { keyId, login, action, amount, comment } = sought;
  const row = await maybeOne<{ operation_id: string }>(
    db,
    sql`select operation_id
        from cashflow
        where duplicate_scope_key = ${keyId} and login = ${login} and action = ${action} and amount_minor = ${amount.minor}
          and currency = ${amount.currency} and comment = ${comment} and operation_id <> ${sought.operationId}
          and state not in ('POSTED', 'REFUSED')`,
  );
  return row?.operation_id;
}

/** The last equal operation that was executed since, with a deal. */
export async function findExecutedDuplicate(
  db: Queryable,
  sought: Sought,
  since: Date,
): Promise<ExecutedDuplicate | undefined> {
  const { keyId, login, action, amount, comment } = sought;
  return await maybeOne<ExecutedDuplicate>(
    db,
    sql`select operation_id as "operationId", deal_id as "dealId"
        from cashflow
        where duplicate_scope_key = ${keyId} and login = ${login} and action = ${action} and amount_minor = ${amount.minor}
          and currency = ${amount.currency} and comment = ${comment} and operation_id <> ${sought.operationId}
          and state = 'POSTED' and deal_id is not null and finished_at >= ${since}
        order by finished_at desc
        limit 1`,
  );
}
