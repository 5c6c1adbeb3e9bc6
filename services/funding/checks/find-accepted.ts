import { MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { MAX_OPEN_ROWS } from "#kernel/reconcile/table-walk.ts";
import { column, type Fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Longer than the quiet period and the recovery after it: an operation that is still open then waits for manual review. */
const OVERDUE_MS = 600_000;

export type Accepted = {
  readonly id: bigint;
  readonly operationId: string;
  readonly login: string;
  readonly action: string;
  readonly state: string;
  /** The requested amount. */
  readonly amountMinor: bigint;
  /** Signed amount that an execution moved; 0 when nothing was to move. */
  readonly movedMinor: bigint;
  readonly dealId: bigint | null;
  readonly transferKey: string;
};

export async function listOverdue(db: Queryable): Promise<Accepted[]> {
  return many<Accepted>(
    db,
    sql`select id, operation_id as "operationId", login, action, state, amount_minor as "amountMinor",
               0::bigint as "movedMinor", deal_id as "dealId",
               case action when 'deposit' then 'funding:deposit:' else 'funding:payout:' end || operation_id as "transferKey"
        from cashflow
        where state not in ('POSTED', 'REFUSED')
          and deadline < clock_timestamp() - ${OVERDUE_MS} * interval '1 millisecond'
        order by id
        limit ${MAX_FINDINGS}`,
  );
}

/** Those of the cashflows that may still change. */
export async function listOpen(db: Queryable, ids: Fragment): Promise<bigint[]> {
  return await column<bigint>(
    db,
    sql`select id
        from cashflow
        where state not in ('POSTED', 'REFUSED') and id in ${ids}
        order by id
        limit ${MAX_OPEN_ROWS + 1}`,
  );
}

/** The other ones of the cashflows. */
export async function listFinished(db: Queryable, ids: Fragment): Promise<Accepted[]> {
  return await many<Accepted>(
    db,
    sql`select cashflow.id, operation_id as "operationId", login, action, state, amount_minor as "amountMinor",
               case when state <> 'POSTED' then 0
                    when action = 'deposit' then amount_minor
                    when is_imported then -amount_minor
                    else -coalesce(effective_minor, 0) end as "movedMinor",
               deal_id as "dealId",
               case when is_imported then 'imported:' || deal_id
                    else case action when 'deposit' then 'funding:deposit:' else 'funding:payout:' end || operation_id
               end as "transferKey"
        from cashflow
             left join withdrawal on cashflow_id = cashflow.id
        where state in ('POSTED', 'REFUSED') and cashflow.id in ${ids}
        order by cashflow.id`,
  );
}
