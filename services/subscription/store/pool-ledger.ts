import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { SubscriptionStatus } from "../domain/lifecycle.ts";
import type { Buckets } from "../domain/buckets.ts";

export type LedgerHolding = {
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  readonly status: SubscriptionStatus;
  /** Log position up to which the Investor is filed. */
  readonly filedEntry: bigint;
  /** What has left the pooled amount while its units are still to be redeemed. */
  readonly unredeemed: bigint;
  readonly buckets: Buckets;
};

export type PoolLedger = {
  readonly filedNumber: bigint;
  /** X: own capital and the suspense of the Master. */
  readonly own: bigint;
  /** What parties other than the service have moved in total, and that sum when operators acknowledged the own capital. */
  readonly external: bigint;
  readonly acknowledged: bigint | undefined;
  /** What transfers whose records were lost have moved, and nothing was settled with. */
  readonly imported: bigint;
  readonly unallocated: bigint;
  readonly ownUnredeemed: bigint;
  /** Undefined while no subscription is ACTIVE. */
  readonly weeksClosedThrough: Date | undefined;
  /** ACTIVE and PAUSED subscriptions, and those from which money is still to leave the Master, ascending by id. */
  readonly holdings: readonly LedgerHolding[];
};

type PoolPart = Omit<PoolLedger, "holdings" | "acknowledged" | "weeksClosedThrough"> & {
  readonly acknowledged: bigint | null;
  readonly weeksClosedThrough: Date | null;
};
type HoldingPart = Omit<LedgerHolding, "buckets"> & Buckets;
/** A Master without Investors has one row without a holding. */
type Row = PoolPart & (HoldingPart | { readonly subscriptionId: null });

/** One statement, so that pool, holdings and accounts are of one instant. Undefined for an unknown Master. */
export async function findPoolLedger(db: Queryable, masterLogin: string): Promise<PoolLedger | undefined> {
  const rows = await many<Row>(
    db,
    sql`select pool.filed_number as "filedNumber", pool.own_waiting_minor + pool.own_pooled_minor as own,
               pool.external_minor as "external", pool.external_acknowledged_minor as acknowledged,
               pool.imported_mirrors_minor + pool.imported_exits_minor as imported, pool.unallocated_minor as unallocated,
               pool.own_unredeemed_minor as "ownUnredeemed", pool.weeks_closed_through as "weeksClosedThrough",
               holding.subscription_id as "subscriptionId", holding.investor_login as "investorLogin", holding.status,
               account.filed_number as "filedEntry", account.outside_minor as outside,
               account.quarantined_minor as quarantined, account.unposted_minor as unposted,
               holding.inbound_minor as inbound, holding.waiting_minor as waiting, holding.pooled_minor as pooled,
               holding.reserved_minor as reserved, holding.outbound_minor as outbound,
               holding.unredeemed_minor as unredeemed
        from master_pool as pool
             left join (
               select holding.*, subscription.status
               from holding join subscription on subscription.id = holding.subscription_id
               where subscription.status in ('ACTIVE', 'PAUSED') or holding.outbound_minor <> 0
             ) as holding on holding.master_login = pool.login
             left join investor_account as account on account.login = holding.investor_login
        where pool.login = ${masterLogin}
        order by holding.subscription_id`,
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const { filedNumber, own, external, imported, unallocated, ownUnredeemed } = first;
  return {
    filedNumber,
    own,
    external,
    imported,
    unallocated,
    ownUnredeemed,
    acknowledged: first.acknowledged ?? undefined,
    weeksClosedThrough: first.weeksClosedThrough ?? undefined,
    holdings: rows.filter(isHolding).map(toHolding),
  };
}

function isHolding(row: Row): row is PoolPart & HoldingPart {
  return row.subscriptionId !== null;
}

function toHolding({
  subscriptionId,
  investorLogin,
  status,
  filedEntry,
  unredeemed,
  ...buckets
}: PoolPart & HoldingPart): LedgerHolding {
  const { outside, quarantined, unposted, inbound, waiting, pooled, reserved, outbound } = buckets;
  return {
    subscriptionId,
    investorLogin,
    status,
    filedEntry,
    unredeemed,
    buckets: { outside, quarantined, unposted, inbound, waiting, pooled, reserved, outbound },
  };
}
