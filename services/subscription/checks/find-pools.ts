import { many, type Queryable, sql } from "#kernel/postgres/query.ts";

/** The newest entries. Each has a row per Investor, so up to two hundred thousand rows of a large pool are read. */
const ENTRIES_PER_POOL = 20;
/** Factor by which marks are scaled, per 1e-8 USD. */
const SCALE = "1000000000000000000000000";

/** Marks the accruals and arrivals of own capital. */
const OWN_CAPITAL = 9_223_372_036_854_775_807n;

/** Two numbers in the books of a pool that contradict each other. */
export type PoolDifference = {
  readonly masterLogin: string;
  readonly rule: "marks" | "carries" | "sums" | "numbers" | "parts" | "unallocated" | "own_flows";
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
               (own_waiting_minor + own_pooled_minor + imported_mirrors_minor + imported_exits_minor + unallocated_minor + coalesce(holdings.minor, 0))::bigint as "bookedMinor"
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
          select login, coalesce(sum(units), 0) as investors,
                 case when own_units + coalesce(sum(units), 0) = 0 then 1 else own_units end as own
          from master_pool left join holding on holding.master_login = login
          where login = any (${masters}::text[])
          group by login, own_units
        ), attributed as (
          select position.master_login, position.position_id, position.mark,
                 (investors + own) * position.per_unit + coalesce(sum(
                   accrual.basis - accrual.per_unit * case accrual.subscription_id when ${OWN_CAPITAL} then own else holding.units end
                 ), 0) as amount,
                 count(*) filter (where accrual.subscription_id <> ${OWN_CAPITAL} and holding.subscription_id is null) as lost
          from pool_position as position
               join pool on login = position.master_login
               left join accrual
                 on accrual.master_login = position.master_login and accrual.position_id = position.position_id
               left join holding on holding.subscription_id = accrual.subscription_id
          group by position.master_login, position.position_id, position.mark, position.per_unit, investors, own
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
               ceil(abs(own_carry_e8 + coalesce(sum(carry_e8), 0)) / 1000000)::bigint as "atRiskMinor",
               '0' as expected, (own_carry_e8 + coalesce(sum(carry_e8), 0))::text as found
        from master_pool left join holding on holding.master_login = login
        where login = any (${masters}::text[])
        group by login
        having own_carry_e8 + coalesce(sum(carry_e8), 0) <> 0`,
  );
}

/** The sums of a pool over its holdings are theirs. */
export function listBrokenSums(db: Queryable, masters: readonly string[]): Promise<PoolDifference[]> {
  return many<PoolDifference>(
    db,
    sql`with pool as (
          select login, holdings_units, holdings_minor, holdings_carry_e8, unitless_minor, unitless_carry_e8, emptied_holdings,
                 coalesce(sum(units), 0) as units,
                 coalesce(sum(pooled_minor + unredeemed_minor) filter (where units > 0), 0) as minor,
                 coalesce(sum(carry_e8) filter (where units > 0), 0) as carry,
                 coalesce(sum(pooled_minor + unredeemed_minor) filter (where units = 0), 0) as without_minor,
                 coalesce(sum(carry_e8) filter (where units = 0), 0) as without_carry,
                 count(*) filter (where units > 0 and pooled_minor + unredeemed_minor = 0) as emptied
          from master_pool left join holding on holding.master_login = login
          where login = any (${masters}::text[])
          group by login
        )
        select login as "masterLogin", 'sums' as rule, '' as subject,
               greatest(
                 1,
                 abs(holdings_minor - minor) + abs(unitless_minor - without_minor)
                   + ceil((abs(holdings_carry_e8 - carry) + abs(unitless_carry_e8 - without_carry)) / 1000000)
               )::bigint as "atRiskMinor",
               concat_ws(' ', units, minor, carry, without_minor, without_carry, emptied) as expected,
               concat_ws(' ', holdings_units, holdings_minor, holdings_carry_e8, unitless_minor, unitless_carry_e8, emptied_holdings) as found
        from pool
        where (holdings_units, holdings_minor, holdings_carry_e8, unitless_minor, unitless_carry_e8, emptied_holdings)
              <> (units, minor, carry, without_minor, without_carry, emptied)`,
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
          select login, last_allocation, entry.number, entry.kind, entry.result_minor, entry.own_minor + entry.elsewhere_minor as own_minor,
                 (select coalesce(sum(amount_minor), 0)::bigint from allocation_row as part
                  where part.master_login = login and part.number = entry.number) as parts
          from pool
               cross join lateral (
                 select number, kind, result_minor, own_minor, elsewhere_minor
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
        select login, 'parts', 'entry ' || number, abs(result_minor - own_minor - parts), result_minor::text,
               (own_minor + parts)::text
        from newest
        where kind = 'RESULT' and result_minor <> own_minor + parts
        union all
        select login, 'numbers', '', 1, last_allocation::text, highest::text || ' less ' || missing::text
        from numbered
        where highest <> last_allocation or missing <> 0`,
  );
}

/** The flows of own capital that wait for a strike sum to its buckets, inflows and outflows each by itself. */
export function listBrokenOwnFlows(db: Queryable, masters: readonly string[]): Promise<PoolDifference[]> {
  return many<PoolDifference>(
    db,
    sql`with pool as (
          select login, own_waiting_minor as waiting, own_unredeemed_minor as unredeemed,
                 (select coalesce(sum(greatest(amount_minor, 0)), 0)::bigint from arrival
                  where master_login = login and subscription_id = ${OWN_CAPITAL}) as inflows,
                 (select coalesce(sum(greatest(-amount_minor, 0)), 0)::bigint from arrival
                  where master_login = login and subscription_id = ${OWN_CAPITAL}) as outflows
          from master_pool
          where login = any (${masters}::text[])
        )
        select login as "masterLogin", 'own_flows' as rule, '' as subject,
               abs(waiting - inflows) + abs(unredeemed - outflows) as "atRiskMinor",
               waiting || ' and -' || unredeemed as expected, inflows || ' and -' || outflows as found
        from pool
        where waiting <> inflows or unredeemed <> outflows`,
  );
}
