import { many, type Queryable, sql } from "#kernel/postgres/query.ts";

const INVESTORS_PER_RUN = 1_000;

export type BookedInvestor = {
  readonly login: string;
  readonly number: bigint;
  readonly masterLogin: string;
  /** What all places of the Investor that show on its account add up to. */
  readonly bookedMinor: bigint;
};

/** The next Investors in the order of their logins, and those that are looked at again. */
export async function listInvestors(db: Queryable, after: string, again: readonly string[]): Promise<BookedInvestor[]> {
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
        where login = any (${again}::text[])
           or login in (
             select login from investor_account where login > ${after} order by login limit ${INVESTORS_PER_RUN}
           )
        order by login`,
  );
}

/** Where the next look goes on. */
export function nextInvestor(after: string, investors: readonly BookedInvestor[]): string {
  const page = investors.filter(({ login }) => login > after);
  return page.length < INVESTORS_PER_RUN ? "" : (page[INVESTORS_PER_RUN - 1]?.login ?? "");
}

/** A place of a holding against the rows that say why the money is there. */
export type HoldingDifference = {
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly bucket: string;
  readonly bookedMinor: bigint;
  readonly foundMinor: bigint;
};

/**
 * What is inbound waits for a mirror (none yet, or one that is open; a refused one has to give its flows back), what is outbound is on its way from the Master, what waits has arrived, and what is
 * reserved has an owner.
 */
export async function listBrokenHoldings(db: Queryable, masters: readonly string[]): Promise<HoldingDifference[]> {
  return many<HoldingDifference>(
    db,
    sql`with ours as (select * from holding where master_login = any (${masters}::text[])),
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
        ), kept as (
          select reserve.subscription_id, sum(amount_minor) as minor
          from reserve join ours using (subscription_id)
          where state = 'OPEN'
          group by reserve.subscription_id
        ), bucket as (
          select ours.subscription_id, ours.master_login, ours.investor_login, name, booked, coalesce(found, 0) as found
          from ours
               left join moving using (subscription_id)
               left join leaving using (subscription_id)
               left join arrived using (subscription_id)
               left join kept using (subscription_id)
               cross join lateral (values
                 ('inbound', inbound_minor, moving.inflows),
                 ('outbound', outbound_minor, coalesce(moving.outflows, 0) + coalesce(leaving.minor, 0)),
                 ('waiting', waiting_minor, arrived.minor),
                 ('reserved', reserved_minor, kept.minor)
               ) as compared (name, booked, found)
        )
        select subscription_id as "subscriptionId", master_login as "masterLogin", investor_login as "investorLogin",
               name as bucket, booked as "bookedMinor", found::bigint as "foundMinor"
        from bucket
        where booked <> found
        order by subscription_id, name`,
  );
}
