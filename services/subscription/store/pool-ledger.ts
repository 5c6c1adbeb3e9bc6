import { many, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { SubscriptionStatus } from "../domain/lifecycle.ts";
import type { Places } from "../domain/places.ts";

export type LedgerSeat = {
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  readonly status: SubscriptionStatus;
  /** How far the Investor's log is filed. */
  readonly filedEntry: bigint;
  readonly places: Places;
};

export type PoolLedger = {
  readonly filedNumber: bigint;
  readonly foreign: bigint;
  readonly unallocated: bigint;
  /** Results that no Investor owns. */
  readonly suspense: bigint;
  /** Everybody whose money is anywhere in the pool, ascending by subscription. */
  readonly seats: readonly LedgerSeat[];
};

type PoolPart = Omit<PoolLedger, "seats">;
type SeatPart = Omit<LedgerSeat, "places"> & Places;
/** A Master without anybody has one row without a seat. */
type Row = PoolPart & (SeatPart | { readonly subscriptionId: null });

/** One statement, so that pool, seats and accounts are of one instant. Undefined when nothing is known of the Master. */
export async function findPoolLedger(db: Queryable, masterLogin: string): Promise<PoolLedger | undefined> {
  const rows = await many<Row>(
    db,
    sql`select pool.filed_number as "filedNumber", pool.foreign_minor as "foreign",
               pool.unallocated_minor as unallocated, pool.suspense_minor as suspense, seat.subscription_id as "subscriptionId",
               seat.investor_login as "investorLogin", seat.status, account.filed_number as "filedEntry",
               account.outside_minor as outside,
               account.quarantined_minor as quarantined, account.unposted_minor as unposted,
               seat.inbound_minor as inbound, seat.waiting_minor as waiting, seat.pooled_minor as pooled,
               seat.reserved_minor as reserved, seat.outbound_minor as outbound
        from master_pool as pool
             left join (
               select seat.*, subscription.status
               from seat join subscription on subscription.id = seat.subscription_id
               where subscription.status in ('ACTIVE', 'PAUSED')
             ) as seat on seat.master_login = pool.login
             left join investor_account as account on account.login = seat.investor_login
        where pool.login = ${masterLogin}
        order by seat.subscription_id`,
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const { filedNumber, foreign, unallocated, suspense } = first;
  return { filedNumber, foreign, unallocated, suspense, seats: rows.filter(isSeat).map(toSeat) };
}

function isSeat(row: Row): row is PoolPart & SeatPart {
  return row.subscriptionId !== null;
}

function toSeat({ subscriptionId, investorLogin, status, filedEntry, ...places }: PoolPart & SeatPart): LedgerSeat {
  const { outside, quarantined, unposted, inbound, waiting, pooled, reserved, outbound } = places;
  return {
    subscriptionId,
    investorLogin,
    status,
    filedEntry,
    places: { outside, quarantined, unposted, inbound, waiting, pooled, reserved, outbound },
  };
}
