import { findLastPosition } from "#kernel/postgres/last-position.ts";
import { many, matchesRow, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import { VISIBLE_STATUSES } from "../domain/lifecycle.ts";

/** A subscription whose parts are listed. */
export type AllocatedSubscription = {
  readonly id: bigint;
  readonly masterLogin: string;
  readonly startedAt: Date;
  /** Number of the last entry that was made while it was in the pool, where it still is null: later ones have a part of it only when they repair an earlier deal. */
  readonly leftNumber: bigint | null;
};

/** The newest subscription of an Investor up to an id. */
export async function findSubscriptionUpTo(
  db: Queryable,
  investorLogin: string,
  id: bigint,
): Promise<AllocatedSubscription | undefined> {
  const row = await maybeOne<Omit<AllocatedSubscription, "leftNumber">>(
    db,
    sql`select id, master_login as "masterLogin", started_at as "startedAt"
        from subscription
        where investor_login = ${investorLogin} and id <= ${id} and status = any(${VISIBLE_STATUSES}::text[])
        order by id desc
        limit 1`,
  );
  if (row === undefined) return undefined;
  const left = await maybeOne<{ number: bigint }>(
    db,
    sql`select allocation_number as number
        from departure
        where subscription_id = ${row.id} and kind = 'EXIT' and state in ('DECIDED', 'ENDED')`,
  );
  return { ...row, leftNumber: left?.number ?? null };
}

/**
 * Number of a Master's last entry that was allocated before an instant; 0 without one. Entries have no gaps and are written in the order of
 * their numbers, so few of them are looked at, the same ones however many there are since.
 */
export async function findLastAllocatedBefore(db: Queryable, masterLogin: string, instant: Date): Promise<bigint> {
  const { last } = await one<{ last: bigint }>(
    db,
    sql`select coalesce(max(number), 0)::bigint as last from allocation_entry where master_login = ${masterLogin}`,
  );
  return await findLastPosition({ none: 0n, last }, (number) => isAllocatedBefore(db, masterLogin, number, instant));
}

async function isAllocatedBefore(db: Queryable, masterLogin: string, number: bigint, instant: Date): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select number
        from allocation_entry
        where master_login = ${masterLogin} and number = ${number} and created_at < ${instant}`,
  );
}

export type EntryOfInvestor = {
  readonly number: bigint;
  readonly allocatedAt: Date;
  readonly dealId: bigint;
  readonly dealAt: Date;
  readonly result: bigint;
  readonly poolUnits: string;
  /** Null when the subscription has no part, like its units; always for a closed week, which has no deal. */
  readonly amount: bigint | null;
  readonly units: string;
};

export type EntryRange = {
  readonly masterLogin: string;
  readonly subscriptionId: bigint;
  /** Exclusive. */
  readonly after: bigint;
  readonly before: bigint;
  readonly through: bigint;
  /** Of the entries beyond, only repairs count. */
  readonly left: bigint;
  readonly limit: number;
};

/**
 * The entries of a Master in a range, descending, each with the part of a subscription. The parts are looked up by entry: those of all
 * others in the pool are not read. Repairs are few, and have an index of their own.
 */
export async function listEntriesOfInvestor(db: Queryable, range: EntryRange): Promise<EntryOfInvestor[]> {
  const { masterLogin, subscriptionId, after, before, through, left, limit } = range;
  return many<EntryOfInvestor>(
    db,
    sql`with own as (
          select number, created_at, deal_id, deal_at, result_minor, pool_units
          from allocation_entry
          where master_login = ${masterLogin} and number > ${after} and number <= least(${before}::bigint - 1, ${through}::bigint, ${left}::bigint)
          order by number desc
          limit ${limit}
        ), repair as (
          select number, created_at, deal_id, deal_at, result_minor, pool_units
          from allocation_entry
          where master_login = ${masterLogin} and number > greatest(${after}::bigint, ${left}::bigint)
            and number <= least(${before}::bigint - 1, ${through}::bigint)
            and case_id <> 0
          order by number desc
          limit ${limit}
        )
        select entry.number, entry.created_at as "allocatedAt", entry.deal_id as "dealId", entry.deal_at as "dealAt",
               entry.result_minor as result, entry.pool_units::text as "poolUnits", part.amount, part.units::text
        from (
               select number, created_at, deal_id, deal_at, result_minor, pool_units from own
               union all
               select number, created_at, deal_id, deal_at, result_minor, pool_units from repair
               order by number desc
               limit ${limit}
             ) as entry
             left join lateral (
               select amount_minor as amount, units
               from allocation_row
               where master_login = ${masterLogin} and number = entry.number and subscription_id = ${subscriptionId}
                 and amount_minor <> 0
               limit 1
             ) as part on true
        order by entry.number desc`,
  );
}
