import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";

/**
 * The legs behind keys of deposits and payouts. A payout is decided before it is requested, and its amount never changes after that. SQL of
 * its own, because a check reads it.
 */
export async function listOwnedLegs(db: Queryable, keys: readonly string[]): Promise<OwnedLeg[]> {
  return await many<OwnedLeg>(
    db,
    sql`select requested.key, login, case action when 'deposit' then 'deposit' else 'withdrawal' end as kind,
               case action when 'deposit' then amount_minor else -effective_minor end as "amountMinor"
        from unnest(${keys}::text[]) as requested (key)
        join cashflow on operation_id = split_part(requested.key, ':', 3)
          and requested.key = case action when 'deposit' then 'funding:deposit:' else 'funding:payout:' end || operation_id
        left join withdrawal on cashflow_id = cashflow.id
        where action = 'deposit' or effective_minor > 0`,
  );
}
