import {
  allOf,
  column,
  execute,
  type Fragment,
  fragment,
  many,
  maybeOne,
  type Queryable,
  sql,
  unnest,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { MasterDeal } from "../domain/master-deal.ts";
import type { Week } from "../domain/weeks.ts";
import { ARE_BOOKS_WHOLE } from "./settled-database.ts";

export async function insertMasterResults(tx: Transaction, results: readonly MasterDeal[]): Promise<void> {
  if (results.length === 0) return;
  await execute(
    tx,
    sql`insert into master_result (master_login, number, deal_id, deal_at, amount_minor, action, entry,
                                   position_id, volume, volume_closed, profit_minor, swap_minor)
        select *
        from ${unnest(results)} as deal (master_login text, number bigint, deal_id bigint, deal_at timestamptz, amount bigint,
                    action integer, entry integer, position_id bigint, volume bigint, volume_closed bigint,
                    profit bigint, swap bigint)`,
  );
}

export type WaitingDeals = {
  /** Deals after this log position. */
  readonly after?: bigint;
  readonly through?: bigint;
  /** Undefined for no limit. */
  readonly limit?: number;
  /** Only deals of these positions; undefined for all deals. */
  readonly positionIds?: readonly bigint[];
};

/** Unallocated deals in the order of the log. Who allocates them has locked the pool. */
export async function listWaitingDeals(
  db: Queryable,
  masterLogin: string,
  { after, through, limit, positionIds }: WaitingDeals,
): Promise<MasterDeal[]> {
  const conditions = allOf([
    after === undefined ? undefined : fragment`number > ${after}`,
    through === undefined ? undefined : fragment`number <= ${through}`,
    positionIds === undefined ? undefined : fragment`position_id = any(${positionIds}::bigint[])`,
  ]);
  return many<MasterDeal>(
    db,
    sql`select master_login as "masterLogin", number, deal_id as "dealId", deal_at as "dealAt",
               amount_minor as amount, action, entry, position_id as "positionId", volume,
               volume_closed as "volumeClosed", profit_minor as profit, swap_minor as swap
        from master_result
        where master_login = ${masterLogin} and allocated_at is null and ${conditions}
        order by number
        limit ${limit}`,
  );
}

/** With what is not allocated of the Master. */
export async function markDealsAllocated(
  tx: Transaction,
  masterLogin: string,
  through: bigint,
  at: Date,
): Promise<void> {
  await execute(
    tx,
    sql`with allocated as (
          update master_result
          set allocated_at = ${at}
          where master_login = ${masterLogin} and allocated_at is null and number <= ${through}
          returning amount_minor
        )
        update master_pool
        set unallocated_minor = unallocated_minor - (select coalesce(sum(amount_minor), 0) from allocated)
        where login = ${masterLogin}`,
  );
}

/** Masters whose next deal can be allocated, with the time of that deal. */
function allocatable(week: Week): Fragment {
  return fragment`from master_pool as pool
     cross join lateral (
       select deal_at
       from master_result
       where master_login = pool.login and allocated_at is null
       order by number
       limit 1
     ) as next
  where pool.stopped_reason is null and ${ARE_BOOKS_WHOLE}
    and (
      pool.weeks_closed_through is null
      or date_bin(${week.periodMs}::bigint * interval '1 millisecond', next.deal_at, ${week.anchor}::timestamptz)
       <= pool.weeks_closed_through
    )`;
}

/** Masters whose next deal can be allocated: its week is open. */
export async function listMastersToAllocate(db: Queryable, week: Week, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select pool.login
        ${allocatable(week)}
        order by next.deal_at
        limit ${limit}`,
  );
}

/** Expression: an instant in the past when a deal of a Master can be allocated. */
export function nextAllocation(week: Week): Fragment {
  return fragment`(
    select '-infinity'::timestamptz
    ${allocatable(week)}
    limit 1
  )`;
}

/** The last deal that is allocated; those that are not follow it. */
export async function findAllocatedDeal(
  db: Queryable,
  masterLogin: string,
): Promise<Pick<MasterDeal, "dealId" | "dealAt"> | undefined> {
  return maybeOne<Pick<MasterDeal, "dealId" | "dealAt">>(
    db,
    sql`select deal_id as "dealId", deal_at as "dealAt"
        from master_result
        where master_login = ${masterLogin} and allocated_at is not null
        order by number desc
        limit 1`,
  );
}
