import { many, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { ProvenHolding, UnownedMoney } from "../domain/proof.ts";
import { BUCKETS } from "./holdings.ts";

export type LedgerHolding = ProvenHolding & {
  /** Log position up to which the Investor is filed. */
  readonly filedEntry: bigint;
};

export type PoolLedger = UnownedMoney & {
  readonly filedNumber: bigint;
  /** Undefined while no subscription is ACTIVE. */
  readonly weeksClosedThrough: Date | undefined;
  /** ACTIVE and PAUSED subscriptions, and those from which money is still to leave the Master, ascending by id. */
  readonly holdings: readonly LedgerHolding[];
};

/** A Master without Investors has one row without a holding. */
type Row = Omit<PoolLedger, "holdings"> & (LedgerHolding | { readonly subscriptionId: null });

/** One statement, so that pool, holdings and accounts are of one instant. Undefined for an unknown Master. */
export async function findPoolLedger(db: Queryable, masterLogin: string): Promise<PoolLedger | undefined> {
  const rows = await many<Row>(
    db,
    sql`select pool.filed_number as "filedNumber", pool.own_waiting_minor + pool.own_pooled_minor as own,
               pool.external_minor as "external", pool.external_acknowledged_minor as acknowledged,
               pool.imported_mirrors_minor + pool.imported_exits_minor as imported, pool.unallocated_minor as unallocated,
               pool.own_unredeemed_minor as "ownUnredeemed", pool.weeks_closed_through as "weeksClosedThrough",
               holding.subscription_id as "subscriptionId", holding.investor_login as "investorLogin",
               account.filed_number as "filedEntry", account.outside_minor as outside,
               account.quarantined_minor as quarantined, account.unposted_minor as unposted,
               ${BUCKETS}, holding.unredeemed_minor as unredeemed
        from master_pool as pool
             left join (
               select holding.*
               from holding join subscription on subscription.id = holding.subscription_id
               where subscription.status in ('ACTIVE', 'PAUSED') or holding.outbound_minor <> 0
             ) as holding on holding.master_login = pool.login
             left join investor_account as account on account.login = holding.investor_login
        where pool.login = ${masterLogin}
        order by holding.subscription_id`,
  );
  const [first] = rows;
  return first && { ...withoutNulls(first), holdings: rows.filter((row) => row.subscriptionId !== null) };
}
