import { allOf, fragment, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { VisibleStatus } from "../domain/lifecycle.ts";
import type { Subscription } from "./subscriptions.ts";

export type SubscriptionSearch = {
  /** Empty matches all. */
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly statuses: readonly VisibleStatus[];
  /** Half-open, of the start. */
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  /** Id of the last subscription of the page before; 0 to begin. */
  readonly beforeId: bigint;
  readonly limit: number;
};

/**
 * Newest first, by start and id. Each status is read in this order by its index, up to the size of the page, so that neither the place of a
 * page nor the number of subscriptions with another status changes what it costs.
 */
export async function listSubscriptionsByStart(db: Queryable, search: SubscriptionSearch): Promise<Subscription[]> {
  const { masterLogin, investorLogin, statuses, from, to, beforeId, limit } = search;
  const conditions = allOf([
    masterLogin === "" ? undefined : fragment`"masterLogin" = ${masterLogin}`,
    investorLogin === "" ? undefined : fragment`"investorLogin" = ${investorLogin}`,
    from && fragment`"startedAt" >= ${from}`,
    to && fragment`"startedAt" < ${to}`,
    beforeId === 0n
      ? undefined
      : fragment`("startedAt", id) < (select started_at, id from subscription where id = ${beforeId})`,
  ]);
  return await many<Subscription>(
    db,
    sql`select found.*
        from unnest(${statuses}::text[]) as wanted (status)
             cross join lateral (
               select *
               from subscription_row
               where status = wanted.status and "startedAt" is not null and ${conditions}
               order by "startedAt" desc, id desc
               limit ${limit}
             ) as found
        order by "startedAt" desc, id desc
        limit ${limit}`,
  );
}

export async function hasStarted(db: Queryable, id: bigint): Promise<boolean> {
  const row = await maybeOne(db, sql`select id from subscription where id = ${id} and started_at is not null`);
  return row !== undefined;
}
