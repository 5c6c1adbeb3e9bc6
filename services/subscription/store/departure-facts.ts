import { maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { HoldingBuckets } from "../domain/buckets.ts";

/** The books of one Investor and of the pool that it is in, for a preview. */
export type DepartureBooks = {
  readonly filedNumber: bigint;
  readonly unposted: bigint;
  readonly quarantined: bigint;
  /** Undefined outside a pool. */
  readonly holding: PooledBooks | undefined;
};

export type PooledBooks = {
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly buckets: HoldingBuckets;
  readonly isStopped: boolean;
  /** Log position up to which the log of the Master is filed. */
  readonly masterNumber: bigint;
  /** Filed deals wait for their allocation. */
  readonly hasWaitingDeals: boolean;
  readonly weeksClosedThrough: Date | null;
  readonly lastAllocation: bigint;
};

type Row = Pick<DepartureBooks, "filedNumber" | "unposted" | "quarantined"> &
  HoldingBuckets &
  Omit<PooledBooks, "masterLogin" | "buckets"> & { readonly masterLogin: string | null };

/** Undefined for an account of which nothing is filed. */
export async function findDepartureBooks(db: Queryable, investorLogin: string): Promise<DepartureBooks | undefined> {
  const row = await maybeOne<Row>(
    db,
    sql`select account.filed_number as "filedNumber", account.unposted_minor as unposted,
               account.quarantined_minor as quarantined, holding.master_login as "masterLogin", holding.subscription_id as "subscriptionId",
               holding.inbound_minor as inbound, holding.waiting_minor as waiting, holding.pooled_minor as pooled,
               holding.reserved_minor as reserved, holding.outbound_minor as outbound,
               pool.stopped_reason is not null as "isStopped",
               pool.filed_number as "masterNumber",
               exists (
                 select from master_result where master_result.master_login = pool.login and allocated_at is null
               ) as "hasWaitingDeals",
               pool.weeks_closed_through as "weeksClosedThrough", pool.last_allocation as "lastAllocation"
        from investor_account as account
             left join holding on holding.subscription_id = account.pooled_subscription_id
             left join master_pool as pool on pool.login = holding.master_login
        where account.login = ${investorLogin}`,
  );
  if (row === undefined) return undefined;
  const { filedNumber, unposted, quarantined, masterLogin, ...pooled } = row;
  const account = { filedNumber, unposted, quarantined };
  if (masterLogin === null) return { ...account, holding: undefined };
  const { inbound, waiting, pooled: inPool, reserved, outbound, ...pool } = pooled;
  const buckets = { inbound, waiting, pooled: inPool, reserved, outbound };
  return { ...account, holding: { masterLogin, buckets, ...pool } };
}
