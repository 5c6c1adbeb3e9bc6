import { many, type Queryable, sql } from "#kernel/postgres/query.ts";

export type BookedInvestor = {
  readonly login: string;
  /** Log position up to which the login is filed. */
  readonly number: bigint;
  readonly masterLogin: string;
  /** Sum of all buckets of the Investor that are on its account. */
  readonly bookedMinor: bigint;
};

export async function listInvestors(db: Queryable, logins: readonly string[]): Promise<BookedInvestor[]> {
  return many<BookedInvestor>(
    db,
    sql`select login, filed_number as number, coalesce(pooled.master_login, '') as "masterLogin",
               (outside_minor + quarantined_minor - unposted_minor + coalesce(holdings.minor, 0))::bigint as "bookedMinor"
        from investor_account
             left join lateral (
               select sum(inbound_minor + waiting_minor + pooled_minor + reserved_minor) as minor
               from holding
               where holding.investor_login = login
             ) as holdings on true
             left join holding as pooled on pooled.subscription_id = pooled_subscription_id
        where login = any (${logins}::text[])
        order by login`,
  );
}

/** A bucket of a holding that differs from the rows that explain it. */
export type HoldingDifference = {
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly bucket: string;
  readonly bookedMinor: bigint;
  readonly foundMinor: bigint;
};

/**
 * Inbound and outbound are the flows without an applied mirror (a refused mirror gives its flows back) and the open
 * exit transfers; waiting is the sum of the arrivals; reserved is the sum of the open reserves.
 */
export async function listBrokenHoldings(db: Queryable, masters: readonly string[]): Promise<HoldingDifference[]> {
  return many<HoldingDifference>(
    db,
    sql`with checked as (select * from holding where master_login = any (${masters}::text[])),
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
        select subscription_id as "subscriptionId", master_login as "masterLogin", investor_login as "investorLogin",
               name as bucket, booked as "bookedMinor", found::bigint as "foundMinor"
        from bucket
        where booked <> found
        order by subscription_id, name`,
  );
}
