import { isHeldInflow } from "./flows.ts";
import { column, many, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";

/** What a transfer on an Investor moves on the Master, and the mirror that carries it. */
export type MirroredPart = {
  /** Key of the transfer on the Investor. */
  readonly key: string;
  readonly masterLogin: string;
  readonly amountMinor: bigint;
  readonly mirrorKey: string | undefined;
  readonly appliedAt: Date | undefined;
  /** It stays on the account of the Investor until a deficit is covered, or the account of the Master is shown again. */
  readonly isHeld: boolean;
  readonly isMasterArchived: boolean;
};

/** Of the keys, in the order in which the flows were recorded. Subqueries: without statistics a join would read all mirrors. */
export async function listMirroredParts(db: Queryable, keys: readonly string[]): Promise<MirroredPart[]> {
  const rows = await many<MirroredPart>(
    db,
    sql`select flow.source_key as key, flow.master_login as "masterLogin", flow.amount_minor as "amountMinor",
               (select mirror.key from mirror where mirror.id = flow.mirror_id) as "mirrorKey",
               (select mirror.closed_at from mirror where mirror.id = flow.mirror_id and mirror.state = 'APPLIED') as "appliedAt",
               flow.mirror_id is null and ${isHeldInflow} as "isHeld",
               pool.archived_next_at is not null as "isMasterArchived"
        from flow
             join holding on holding.subscription_id = flow.subscription_id
             join master_pool as pool on pool.login = flow.master_login
        where flow.source_key = any(${keys}::text[])
        order by flow.id`,
  );
  return rows.map(withoutNulls);
}

/** The keys of the transfers on Investors that a mirror carries, at most `limit`. */
export async function listMirroredKeys(db: Queryable, mirrorKey: string, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select distinct flow.source_key
        from mirror join flow on flow.mirror_id = mirror.id
        where mirror.key = ${mirrorKey} and flow.source_key is not null
        order by flow.source_key
        limit ${limit}`,
  );
}
