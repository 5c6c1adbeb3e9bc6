import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";

/** The legs behind keys of deposits. SQL of its own, because a check reads it. */
export async function listOwnedLegs(db: Queryable, keys: readonly string[]): Promise<OwnedLeg[]> {
  return await many<OwnedLeg>(
    db,
    sql`select requested.key, login, 'deposit' as kind, amount_minor as "amountMinor"
        from unnest(${keys}::text[]) as requested (key)
        join cashflow on operation_id = split_part(requested.key, ':', 3) and requested.key = 'funding:deposit:' || operation_id
        where action = 'deposit'`,
  );
}
