import { allOf, type Fragment, fragment, many, matchesRow, type Queryable, sql } from "#kernel/postgres/query.ts";
import { VISIBLE_STATUSES, type VisibleStatus } from "../domain/lifecycle.ts";
import { type Subscription, SUBSCRIPTIONS } from "./subscriptions.ts";

type Wanted = {
  /** Empty matches all. */
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly statuses: readonly VisibleStatus[];
  readonly limit: number;
};

function ofAccounts({ masterLogin, investorLogin }: Wanted): (Fragment | undefined)[] {
  return [
    masterLogin === "" ? undefined : fragment`master_login = ${masterLogin}`,
    investorLogin === "" ? undefined : fragment`investor_login = ${investorLogin}`,
  ];
}

export type SubscriptionFilter = Wanted & { readonly afterId: bigint };

export async function listSubscriptions(db: Queryable, filter: SubscriptionFilter): Promise<Subscription[]> {
  const { statuses, afterId, limit } = filter;
  return many<Subscription>(
    db,
    sql`${SUBSCRIPTIONS}
        where id > ${afterId} and status = any(${statuses}::text[]) and ${allOf(ofAccounts(filter))}
        order by id
        limit ${limit}`,
  );
}

/** Of each Investor the first `limit` visible ones, ascending by id. */
export async function listVisibleSubscriptions(
  db: Queryable,
  investorLogins: readonly string[],
  limit: number,
): Promise<Subscription[]> {
  return many<Subscription>(
    db,
    sql`select visible.*
        from unnest(${investorLogins}::text[]) as investor (login)
             cross join lateral (
               ${SUBSCRIPTIONS}
               where investor_login = investor.login and status = any(${VISIBLE_STATUSES}::text[])
               order by id
               limit ${limit}
             ) as visible
        order by id`,
  );
}

export type ActiveHolding = { readonly investorId: bigint; readonly investorLogin: string };

export async function listActiveInvestors(
  db: Queryable,
  page: { readonly masterLogin: string; readonly afterInvestorId: bigint; readonly limit: number },
): Promise<ActiveHolding[]> {
  return many<ActiveHolding>(
    db,
    sql`select investor_id as "investorId", investor_login as "investorLogin"
        from subscription
        where master_login = ${page.masterLogin} and status = 'ACTIVE' and investor_id > ${page.afterInvestorId}
        order by investor_id
        limit ${page.limit}`,
  );
}

export async function countActiveInvestors(
  db: Queryable,
  masterLogins: readonly string[],
): Promise<{ masterLogin: string; investors: bigint }[]> {
  return many(
    db,
    sql`select master_login as "masterLogin", count(*) as investors
        from subscription
        where master_login = any(${masterLogins}::text[]) and status = 'ACTIVE'
        group by master_login
        order by master_login`,
  );
}

export type SubscriptionSearch = Wanted & {
  /** Half-open, of the start. */
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  /** Id of the last subscription of the page before; 0 to begin. */
  readonly beforeId: bigint;
};

/**
 * Newest first, by start and id. Each status is read in this order by its index, up to the size of the page, so that neither the place of a
 * page nor the number of subscriptions with another status changes what it costs.
 */
export async function listSubscriptionsByStart(db: Queryable, search: SubscriptionSearch): Promise<Subscription[]> {
  const { statuses, from, to, beforeId, limit } = search;
  const conditions = allOf([
    ...ofAccounts(search),
    from && fragment`started_at >= ${from}`,
    to && fragment`started_at < ${to}`,
    beforeId === 0n
      ? undefined
      : fragment`(started_at, id) < (select started_at, id from subscription where id = ${beforeId})`,
  ]);
  return await many<Subscription>(
    db,
    sql`select found.*
        from unnest(${statuses}::text[]) as wanted (status)
             cross join lateral (
               ${SUBSCRIPTIONS}
               where subscription.status = wanted.status and started_at is not null and ${conditions}
               order by started_at desc, id desc
               limit ${limit}
             ) as found
        order by "startedAt" desc, id desc
        limit ${limit}`,
  );
}

export async function hasStarted(db: Queryable, id: bigint): Promise<boolean> {
  return await matchesRow(db, sql`select from subscription where id = ${id} and started_at is not null`);
}
