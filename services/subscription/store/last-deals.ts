import { maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";

export type LastDeal = { readonly dealId: bigint; readonly dealAt: Date };

/** The deal of the last result of a Master up to an entry of its allocations; of a repair the deal that it repairs. */
export async function findLastDeal(
  db: Queryable,
  masterLogin: string,
  throughNumber: bigint,
): Promise<LastDeal | undefined> {
  return maybeOne<LastDeal>(
    db,
    sql`select deal_id as "dealId", deal_at as "dealAt"
        from allocation_entry
        where master_login = ${masterLogin} and number <= ${throughNumber} and kind = 'RESULT' and deal_id <> 0
        order by number desc
        limit 1`,
  );
}
