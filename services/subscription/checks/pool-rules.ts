import { many, type Queryable, sql, type Statement } from "#kernel/postgres/query.ts";

/** The newest entries. Each has a row per Investor, so up to two hundred thousand rows of a large pool are read. */
const ENTRIES_PER_POOL = 20;
/** Factor by which marks are scaled, per 1e-8 USD. */
const SCALE = "1000000000000000000000000";

/** Marks the accruals and arrivals of own capital. */
const OWN_CAPITAL = 9_223_372_036_854_775_807n;

/** Two numbers in the books of a pool that contradict each other. */
export type PoolDifference = {
  readonly rule: "holding" | "marks" | "carries" | "sums" | "numbers" | "parts" | "unallocated" | "own_flows";
  /** The bucket of a subscription, the position or the entry; empty for the whole pool. */
  readonly subject: string;
  /** That of the Investor of a subscription, or of the Master. */
  readonly login: string;
  readonly masterLogin: string;
  /** Cents, rounded up, at least 1. */
  readonly atRiskMinor: bigint;
  readonly expected: string;
  readonly found: string;
};

/** Each rule of the pools of these Masters. */
export async function listDifferences(db: Queryable, masters: readonly string[]): Promise<PoolDifference[]> {
  const differences: PoolDifference[] = [];
  for (const rule of [holdings, marks, carries, sums, allocations, ownFlows]) {
    differences.push(...(await many<PoolDifference>(db, rule(masters))));
  }
  return differences;
}

/**
 * Inbound and outbound are the flows without an applied mirror (a refused mirror gives its flows back) and the open
 * exit transfers; waiting is the sum of the arrivals; reserved is the sum of the open reserves.
 */
function holdings(masters: readonly string[]): Statement {
  return sql`with checked as (select * from holding where master_login = any (${masters}::text[])),
      open_flow as (
        select subscription_id, amount_minor
        from flow
        where master_login = any (${masters}::text[]) and mirror_id is null
        union all
        select flow.subscription_id, flow.amount_minor
        from mirror join flow on flow.mirror_id = mirror.id
        where mirror.master_login = any (${masters}::text[]) and mirror.state = 'OPEN'
      ), moving as (
        select subscription_id, sum(greatest(amount_minor, 0)) as inflows, sum(greatest(-amount_minor, 0)) as outflows
        from open_flow
        group by subscription_id
      ), leaving as (
        select subscription_id, sum(amount_minor) as minor
        from exit_transfer
        where master_login = any (${masters}::text[]) and state = 'OPEN'
        group by subscription_id
      ), arrived as (
        select subscription_id, sum(amount_minor) as minor
        from arrival
        where master_login = any (${masters}::text[])
        group by subscription_id
      ), kept_reserve as (
        select reserve.subscription_id, sum(amount_minor) as minor
        from reserve join checked using (subscription_id)
        where state = 'OPEN' and not is_outside
        group by reserve.subscription_id
      ), bucket as (
        select checked.subscription_id, checked.master_login, checked.investor_login, name, booked,
               coalesce(found, 0) as found
        from checked
             left join moving using (subscription_id)
             left join leaving using (subscription_id)
             left join arrived using (subscription_id)
             left join kept_reserve using (subscription_id)
             cross join lateral (values
               ('inbound', inbound_minor, moving.inflows),
               ('outbound', outbound_minor, coalesce(moving.outflows, 0) + coalesce(leaving.minor, 0)),
               ('waiting', waiting_minor, arrived.minor),
               ('reserved', reserved_minor, kept_reserve.minor)
             ) as compared (name, booked, found)
      )
      select 'holding' as rule, 'subscription ' || subscription_id || ' ' || name as subject, investor_login as login,
             master_login as "masterLogin", abs(booked - found)::bigint as "atRiskMinor", found::bigint::text as expected, booked::text as found
      from bucket
      where booked <> found
      order by subscription_id, name`;
}

/** The attributed result of each position, per unit and by accruals, equals its mark to less than 1e-8 USD. */
function marks(masters: readonly string[]): Statement {
  return sql`with pool as (
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
      select master_login as "masterLogin", master_login as login, 'marks' as rule, 'position ' || position_id as subject,
             greatest(1, ceil(abs(mark - amount) / ${SCALE}::numeric / 1000000))::bigint as "atRiskMinor",
             (mark / ${SCALE}::numeric)::text as expected, (amount / ${SCALE}::numeric)::text as found
      from attributed
      where abs(mark - amount) >= ${SCALE}::numeric or lost > 0`;
}

/** Rounding remainders of a pool sum to 0. */
function carries(masters: readonly string[]): Statement {
  return sql`select login as "masterLogin", login, 'carries' as rule, '' as subject,
             ceil(abs(own_carry_e8 + coalesce(sum(carry_e8), 0)) / 1000000)::bigint as "atRiskMinor",
             '0' as expected, (own_carry_e8 + coalesce(sum(carry_e8), 0))::text as found
      from master_pool left join holding on holding.master_login = login
      where login = any (${masters}::text[])
      group by login
      having own_carry_e8 + coalesce(sum(carry_e8), 0) <> 0`;
}

/** The sums of a pool over its holdings are theirs. */
function sums(masters: readonly string[]): Statement {
  return sql`with pool as (
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
      select login as "masterLogin", login, 'sums' as rule, '' as subject,
             greatest(
               1,
               abs(holdings_minor - minor) + abs(unitless_minor - without_minor)
                 + ceil((abs(holdings_carry_e8 - carry) + abs(unitless_carry_e8 - without_carry)) / 1000000)
             )::bigint as "atRiskMinor",
             concat_ws(' ', units, minor, carry, without_minor, without_carry, emptied) as expected,
             concat_ws(' ', holdings_units, holdings_minor, holdings_carry_e8, unitless_minor, unitless_carry_e8, emptied_holdings) as found
      from pool
      where (holdings_units, holdings_minor, holdings_carry_e8, unitless_minor, unitless_carry_e8, emptied_holdings)
            <> (units, minor, carry, without_minor, without_carry, emptied)`;
}

/** Unallocated results sum to the pool's total of them; the newest results were allocated completely, without a gap. */
function allocations(masters: readonly string[]): Statement {
  return sql`with pool as (select * from master_pool where login = any (${masters}::text[])),
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
      select login as "masterLogin", login, 'unallocated' as rule, '' as subject, abs(booked - found) as "atRiskMinor",
             booked::text as expected, found::text as found
      from unallocated
      where booked <> found
      union all
      select login, login, 'parts', 'entry ' || number, abs(result_minor - own_minor - parts), result_minor::text,
             (own_minor + parts)::text
      from newest
      where kind = 'RESULT' and result_minor <> own_minor + parts
      union all
      select login, login, 'numbers', '', 1, last_allocation::text, highest::text || ' less ' || missing::text
      from numbered
      where highest <> last_allocation or missing <> 0`;
}

/** The flows of own capital that wait for a strike sum to its buckets, inflows and outflows each by itself. */
function ownFlows(masters: readonly string[]): Statement {
  return sql`with pool as (
        select login, own_waiting_minor as waiting, own_unredeemed_minor as unredeemed,
               (select coalesce(sum(greatest(amount_minor, 0)), 0)::bigint from arrival
                where master_login = login and subscription_id = ${OWN_CAPITAL}) as inflows,
               (select coalesce(sum(greatest(-amount_minor, 0)), 0)::bigint from arrival
                where master_login = login and subscription_id = ${OWN_CAPITAL}) as outflows
        from master_pool
        where login = any (${masters}::text[])
      )
      select login as "masterLogin", login, 'own_flows' as rule, '' as subject,
             abs(waiting - inflows) + abs(unredeemed - outflows) as "atRiskMinor",
             waiting || ' and -' || unredeemed as expected, inflows || ' and -' || outflows as found
      from pool
      where waiting <> inflows or unredeemed <> outflows`;
}
