import { type Fragment, fragment, many, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { NewCashflow } from "../domain/cashflow.ts";
import type { ExecutedDuplicate } from "../domain/duplicate.ts";

type Sought = Pick<NewCashflow, "operationId" | "action" | "login" | "amount" | "comment" | "at"> & {
  readonly keyId: string;
};

/** What makes another operation of the same API key a duplicate. */
const IS_EQUAL = fragment`duplicate_scope_key = key_id and cashflow.login = sought.login
                 and cashflow.action = sought.action and amount_minor = amount and cashflow.currency = sought.currency
                 and cashflow.comment = sought.comment and cashflow.operation_id <> sought.operation_id`;

/** The operations that are equal to these and still open; at most one for each. `of` is the operation that was sought for. */
export async function listOpenDuplicates(
  db: Queryable,
  sought: readonly Sought[],
): Promise<{ readonly of: string; readonly operationId: string }[]> {
  return await many(
    db,
    sql`select sought.operation_id as of, cashflow.operation_id as "operationId"
        from ${rowsOf(sought)}
             join cashflow on ${IS_EQUAL} and state not in ('POSTED', 'REFUSED')`,
  );
}

/** The last operation that is equal to each of these and was executed within the window before it, with a deal. */
export async function listExecutedDuplicates(
  db: Queryable,
  sought: readonly Sought[],
  windowMs: number,
): Promise<(ExecutedDuplicate & { readonly of: string })[]> {
  return await many(
    db,
    sql`select sought.operation_id as of, executed.operation_id as "operationId", executed.deal_id as "dealId"
        from ${rowsOf(sought)}
             cross join lateral (
               select cashflow.operation_id, deal_id
               from cashflow
               where ${IS_EQUAL} and state = 'POSTED' and deal_id is not null
                 and finished_at >= sought.at - ${windowMs} * interval '1 millisecond'
               order by finished_at desc
               limit 1
             ) as executed`,
  );
}

function rowsOf(sought: readonly Sought[]): Fragment {
  return fragment`unnest(
               ${sought.map(({ operationId }) => operationId)}::text[],
               ${sought.map(({ keyId }) => keyId)}::text[],
               ${sought.map(({ login }) => login)}::text[],
               ${sought.map(({ action }) => action)}::text[],
               ${sought.map(({ amount }) => amount.minor)}::bigint[],
               ${sought.map(({ amount }) => amount.currency)}::text[],
               ${sought.map(({ comment }) => comment)}::text[],
               ${sought.map(({ at }) => at)}::timestamptz[]
             ) as sought (operation_id, key_id, login, action, amount, currency, comment, at)`;
}
