import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";

/** The mirrors, postings and exit transfers with these keys. SQL of its own, because a check reads it. */
export async function listOwnedLegs(db: Queryable, keys: readonly string[]): Promise<OwnedLeg[]> {
  return await many<OwnedLeg>(
    db,
    sql`select key, master_login as login, 'mirror' as kind, amount_minor as "amountMinor"
        from mirror
        where key = any (${keys}::text[])
        union all
        select key, investor_login, 'result', amount_minor from posting where key = any (${keys}::text[])
        union all
        select key, master_login, 'exit', -amount_minor from exit_transfer where key = any (${keys}::text[])`,
  );
}
