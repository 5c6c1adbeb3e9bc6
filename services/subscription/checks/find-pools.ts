import { many, type Queryable, sql } from "#kernel/postgres/query.ts";

/** The newest entries. Each has a row per Investor, so up to two hundred thousand rows of a large pool are read. */
const ENTRIES_PER_POOL = 20;
/** Factor by which marks are scaled, per 1e-8 USD. */
const SCALE = "1000000000000000000000000";

/** Two numbers in the books of a pool that contradict each other. */
export type PoolDifference = {
  readonly masterLogin: string;
  readonly rule: "marks" | "carries" | "numbers" | "parts" | "unallocated";
  /** The position or entry; empty for the whole pool. */
  readonly subject: string;
  /** Cents, rounded up, at least 1. */
  readonly atRiskMinor: bigint;
  readonly expected: string;
  readonly found: string;
};

export type BookedMaster = {
  readonly login: string;
  /** Log position up to which the login is filed. */
  readonly number: bigint;
  /** Sum of all buckets of Investors that are on the Master, and of the money that belongs to no Investor. */
  readonly bookedMinor: bigint;
};

export async function listMasters(db: Queryable, logins: readonly string[]): Promise<BookedMaster[]> {
  return many<BookedMaster>(
    db,
    sql`select login, filed_number as number,
               (external_minor + imported_mirrors_minor + imported_exits_minor + unallocated_minor + suspense_minor + coalesce(holdings.minor, 0))::bigint as "bookedMinor"
        from master_pool
             left join lateral (
               select sum(waiting_minor + pooled_minor + reserved_minor + outbound_minor) as minor
               from holding
               where holding.master_login = login
             ) as holdings on true
        where login = any (${logins}::text[])
        order by login`,
  );
}

/** The attributed result of each position, per unit and by accruals, equals its mark to less than 1e-8 USD. */
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
        select master_login as "masterLogin", 'marks' as rule, 'position ' || position_id as subject,
               greatest(1, ceil(abs(mark - amount) / ${SCALE}::numeric / 1000000))::bigint as "atRiskMinor",
               (mark / ${SCALE}::numeric)::text as expected, (amount / ${SCALE}::numeric)::text as found
        from attributed
        where abs(mark - amount) >= ${SCALE}::numeric or lost > 0`,
  );
}

/** Rounding remainders of a pool sum to 0. */
export function listBrokenCarries(db: Queryable, masters: readonly string[]): Promise<PoolDifference[]> {
  return many<PoolDifference>(
    db,
    sql`select login as "masterLogin", 'carries' as rule, '' as subject,
               ceil(abs(suspense_carry_e8 + coalesce(sum(carry_e8), 0)) / 1000000)::bigint as "atRiskMinor",
               '0' as expected, (suspense_carry_e8 + coalesce(sum(carry_e8), 0))::text as found
        from master_pool left join holding on holding.master_login = login
        where login = any (${masters}::text[])
        group by login
        having suspense_carry_e8 + coalesce(sum(carry_e8), 0) <> 0`,
  );
}

/** Unallocated results sum to the pool's total of them; the newest results were allocated completely, without a gap. */
export function listBrokenAllocations(db: Queryable, masters: readonly string[]): Promise<PoolDifference[]> {
  return many<PoolDifference>(
    db,
    sql`with pool as (select * from master_pool where login = any (${masters}::text[])),
        unallocated as (
          select login, unallocated_minor as booked,
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
        select login as "masterLogin", 'unallocated' as rule, '' as subject, abs(booked - found) as "atRiskMinor",
               booked::text as expected, found::text as found
        from unallocated
        where booked <> found
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
