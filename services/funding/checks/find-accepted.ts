import { MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";
import { MAX_OPEN_ROWS } from "#kernel/reconcile/table-walk.ts";
import { column, type Fragment, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Longer than the quiet period and the recovery after it: an operation that is still open then waits for manual review. */
const OVERDUE_MS = 600_000;

export type Accepted = {
  readonly id: bigint;
  readonly operationId: string;
  readonly login: string;
  readonly action: string;
  readonly state: string;
  /** The requested amount. A withdrawal may have paid out less of it. */
  readonly amountMinor: bigint;
  readonly isImported: boolean;
  readonly dealId: bigint | null;
  readonly transferKey: string;
};

const ACCEPTED = fragment`
  select id, operation_id as "operationId", login, action, state, amount_minor as "amountMinor", deal_id as "dealId",
         is_imported as "isImported",
         case when is_imported then 'imported:' || deal_id
              when action = 'deposit' then 'funding:deposit:' || operation_id
              else 'withdrawal:' || operation_id end as "transferKey"
  from cashflow`;

export async function listOverdue(db: Queryable): Promise<Accepted[]> {
  return many<Accepted>(
    db,
    sql`${ACCEPTED}
        where state = 'RECORDED'
          and case when queue_state in ('WAITING', 'RUNNING') then queue_until else deadline end < clock_timestamp() - ${OVERDUE_MS} * interval '1 millisecond'
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
        where state = 'RECORDED' and id in ${ids}
        order by id
        limit ${MAX_OPEN_ROWS + 1}`,
  );
}

/** The other ones of the cashflows. */
export async function listFinished(db: Queryable, ids: Fragment): Promise<Accepted[]> {
  return await many<Accepted>(
    db,
    sql`${ACCEPTED}
        where state in ('POSTED', 'REFUSED') and id in ${ids}
        order by id`,
  );
}

/** The legs behind keys of deposits, which a check of platform asks for. */
export async function listOwnedLegs(db: Queryable, keys: readonly string[]): Promise<OwnedLeg[]> {
  return await many<OwnedLeg>(
    db,
    sql`select requested.key, login, 'deposit' as kind, amount_minor as "amountMinor"
        from unnest(${keys}::text[]) as requested (key)
        join cashflow on operation_id = split_part(requested.key, ':', 3) and requested.key = 'funding:deposit:' || operation_id
        where action = 'deposit'`,
  );
}
