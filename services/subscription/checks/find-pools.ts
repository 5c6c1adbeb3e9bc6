import { many, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Most holdings of a look are read from these; a pool may have ten thousand. */
const MASTERS_PER_RUN = 10;
/** The newest ones. Each has a row for everybody in the pool, so a large pool has two hundred thousand of them here. */
const ENTRIES_PER_POOL = 20;
/** Marks are scaled by this for each 1e-8 USD. */
const SCALE = "1000000000000000000000000";

/** One comparison of a pool: what is booked in one place against what is booked in another. */
export type PoolDifference = {
  readonly masterLogin: string;
  readonly what: "marks" | "carries" | "numbers" | "parts" | "unallocated";
  readonly about: string;
  /** Cents, up to the next one, never 0. */
  readonly atRiskMinor: bigint;
  readonly expected: string;
  readonly found: string;
};

export type BookedMaster = {
  readonly login: string;
  readonly number: bigint;
  /** What the places of all Investors and what belongs to nobody add up to. */
  readonly bookedMinor: bigint;
};

/** The next Masters in the order of their logins, and those that are looked at again. */
export async function listMasters(db: Queryable, after: string, again: readonly string[]): Promise<BookedMaster[]> {
  return many<BookedMaster>(
    db,
    sql`select login, filed_number as number,
               (external_minor + unallocated_minor + suspense_minor + coalesce(holdings.minor, 0))::bigint as "bookedMinor"
        from master_pool
             left join lateral (
               select sum(waiting_minor + pooled_minor + reserved_minor + outbound_minor) as minor
               from holding
               where holding.master_login = login
             ) as holdings on true
        where login = any (${again}::text[])
           or login in (select login from master_pool where login > ${after} order by login limit ${MASTERS_PER_RUN})
        order by login`,
  );
}

/** Where the next look goes on. */
export function nextMaster(after: string, masters: readonly BookedMaster[]): string {
  const page = masters.filter(({ login }) => login > after);
  return page.length < MASTERS_PER_RUN ? "" : (page[MASTERS_PER_RUN - 1]?.login ?? "");
}

/** What of a position is attributed, per unit and apart, is its mark; to less than 1e-8. */
export function listBrokenMarks(db: Queryable, masters: readonly string[]): Promise<PoolDifference[]> {
  return many<PoolDifference>(
    db,
    sql`with pool as (
          select login, coalesce(sum(units), 0) as total, case when coalesce(sum(units), 0) = 0 then 1 else 0 end as suspense
          from master_pool left join holding on holding.master_login = login
          where login = any (${masters}::text[])
          group by login
        ), attributed as (
          select position.master_login, position.position_id, position.mark,
                 (total + suspense) * position.per_unit + coalesce(sum(
                   accrual.basis - accrual.per_unit * case accrual.subscription_id when 0 then suspense else holding.units end
                 ), 0) as amount,
                 count(*) filter (where accrual.subscription_id <> 0 and holding.subscription_id is null) as lost
          from pool_position as position
               join pool on login = position.master_login
               left join accrual
                 on accrual.master_login = position.master_login and accrual.position_id = position.position_id
               left join holding on holding.subscription_id = accrual.subscription_id
          group by position.master_login, position.position_id, position.mark, position.per_unit, total, suspense
        )
        select master_login as "masterLogin", 'marks' as what, 'position ' || position_id as about,
               greatest(1, ceil(abs(mark - amount) / ${SCALE}::numeric / 1000000))::bigint as "atRiskMinor",
               (mark / ${SCALE}::numeric)::text as expected, (amount / ${SCALE}::numeric)::text as found
        from attributed
        where abs(mark - amount) >= ${SCALE}::numeric or lost > 0`,
  );
}

/** What rounding has left cancels out. */
export function listBrokenCarries(db: Queryable, masters: readonly string[]): Promise<PoolDifference[]> {
  return many<PoolDifference>(
    db,
    sql`select login as "masterLogin", 'carries' as what, '' as about,
               ceil(abs(suspense_carry_e8 + coalesce(sum(carry_e8), 0)) / 1000000)::bigint as "atRiskMinor",
               '0' as expected, (suspense_carry_e8 + coalesce(sum(carry_e8), 0))::text as found
        from master_pool left join holding on holding.master_login = login
        where login = any (${masters}::text[])
        group by login
        having suspense_carry_e8 + coalesce(sum(carry_e8), 0) <> 0`,
  );
}

/** Results that wait to be split are the sum that the pool keeps of them; the newest ones were split whole, without a gap. */
export function listBrokenAllocations(db: Queryable, masters: readonly string[]): Promise<PoolDifference[]> {
  return many<PoolDifference>(
    db,
    sql`with pool as (select * from master_pool where login = any (${masters}::text[])),
        waiting as (
          select login, unallocated_minor as kept,
                 (select coalesce(sum(amount_minor), 0)::bigint from master_result
                  where master_login = login and allocated_at is null) as found
          from pool
        ), newest as (
          select login, last_allocation, entry.number, entry.kind, entry.result_minor, entry.suspense_minor,
                 (select coalesce(sum(amount_minor), 0)::bigint from allocation_row as part
                  where part.master_login = login and part.number = entry.number) as parts
          from pool
               cross join lateral (
                 select number, kind, result_minor, suspense_minor
                 from allocation_entry
                 where allocation_entry.master_login = login
                 order by number desc
                 limit ${ENTRIES_PER_POOL}
               ) as entry
        ), numbered as (
          select login, last_allocation, max(number) as highest, max(number) - min(number) + 1 - count(*) as missing
          from newest
          group by login, last_allocation
        )
        select login as "masterLogin", 'unallocated' as what, '' as about, abs(kept - found) as "atRiskMinor",
               kept::text as expected, found::text as found
        from waiting
        where kept <> found
        union all
        select login, 'parts', 'entry ' || number, abs(result_minor - suspense_minor - parts), result_minor::text,
               (suspense_minor + parts)::text
        from newest
        where kind = 'RESULT' and result_minor <> suspense_minor + parts
        union all
        select login, 'numbers', '', 1, last_allocation::text, highest::text || ' less ' || missing::text
        from numbered
        where highest <> last_allocation or missing <> 0`,
  );
}
