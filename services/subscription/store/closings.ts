import { column, execute, fragment, many, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import { IS_FLAT } from "./masters.ts";
import { ARE_BOOKS_WHOLE } from "./settled-database.ts";

/** They have the account lock, and so few have it that their index is read. */
const UNDECIDED_ASSIGNMENTS = fragment`
  from subscription
  where may_hold_lock and master_login = wanted.login and status = 'ASSIGNING'`;
const PROGRESSED_AT = fragment`
  greatest(closing_at, (select max(ended_at) from subscription where master_login = wanted.login and ended_at is not null))`;
/** It belongs to no Investor, and operators have not acknowledged it. */
const HAS_OWN_CAPITAL = fragment`(
  (external_minor <> 0 or own_pooled_minor <> 0) and external_minor is distinct from external_acknowledged_minor
)`;

/** A Master that is being closed. */
export type Closing = {
  readonly masterLogin: string;
  readonly requestedAt: Date;
  /** Null until it is archived. */
  readonly archivedAt: Date | null;
  /** When an Investor has left last, or the closing began. */
  readonly progressedAt: Date;
  /** In the pool, assignments that are not decided yet included. */
  readonly investors: bigint;
  /** Those who have left the pool; their capital has not left the Master yet. */
  readonly exits: bigint;
  readonly isStopped: boolean;
  readonly hasOpenPositions: boolean;
  readonly hasOwnCapital: boolean;
};

export async function findClosing(db: Queryable, masterLogin: string): Promise<Closing | undefined> {
  return await maybeOne<Closing>(
    db,
    sql`select login as "masterLogin", closing_at as "requestedAt", closed_at as "archivedAt",
               ${PROGRESSED_AT} as "progressedAt",
               (select count(*) from subscription where master_login = login and status = 'ACTIVE')
               + (select count(*) ${UNDECIDED_ASSIGNMENTS}) as investors,
               (select count(*) from subscription where master_login = login and status = 'PAUSED') as exits,
               (stopped_reason is not null or not ${ARE_BOOKS_WHOLE}) as "isStopped",
               exists (select from pool_position where master_login = login) as "hasOpenPositions",
               ${HAS_OWN_CAPITAL} as "hasOwnCapital"
        from master_pool as wanted
        where login = ${masterLogin} and closing_at is not null`,
  );
}

/** Why tries to take Investors out were refused: codes of refusals, each once. */
export async function listRefusals(db: Queryable, masterLogin: string): Promise<string[]> {
  return await column<string>(
    db,
    sql`select distinct reason
        from departure
        where kind = 'EXIT' and state in ('WANTED', 'WAITING') and is_closing and master_login = ${masterLogin} and reason is not null`,
  );
}

/** From this commit on no assignment begins. No effect when another request has begun to close the Master. */
export async function beginClosing(db: Queryable, masterLogin: string, at: Date): Promise<void> {
  await execute(
    db,
    sql`insert into master_pool (login, closing_at) values (${masterLogin}, ${at})
        on conflict (login) do update set closing_at = excluded.closing_at where master_pool.closing_at is null`,
  );
}

export type OpenClosing = Pick<Closing, "masterLogin" | "requestedAt">;

export async function listOpenClosings(db: Queryable): Promise<OpenClosing[]> {
  return await many<OpenClosing>(
    db,
    sql`select login as "masterLogin", closing_at as "requestedAt"
        from master_pool
        where closing_at is not null and closed_at is null
        order by login`,
  );
}

/** Refusals that are about one Investor: others are tried meanwhile. */
const OF_INVESTOR = ["investor_deficit", "account_busy"];

/**
 * Queues exits of Investors for whom none is open, so that as many as there are ids wait for their try, apart from those that wait for
 * something of their own. These rows are all that is known of how far a closing is.
 */
export async function queueLeavers(
  db: Queryable,
  { masterLogin, requestedAt }: OpenClosing,
  operationIds: readonly string[],
): Promise<void> {
  await execute(
    db,
    sql`with waiting as (
          select count(*) as number
          from departure join subscription on subscription.id = subscription_id
          where kind = 'EXIT' and state in ('WANTED', 'WAITING') and is_closing and departure.master_login = ${masterLogin}
            and status = 'ACTIVE' and coalesce(departure.reason, '') <> all (${OF_INVESTOR}::text[])
        ), leaver as (
          select id, investor_login, waiting.number + row_number() over (order by investor_id) as number
          from subscription cross join waiting
          where master_login = ${masterLogin} and status = 'ACTIVE'
            and not exists (
              select from departure
              where subscription_id = subscription.id and kind = 'EXIT' and state in ('WANTED', 'WAITING')
                and (queue_until is not null or is_closing)
            )
          order by investor_id
          limit ${operationIds.length}
        )
        insert into departure (operation_id, kind, investor_login, subscription_id, master_login, request_id, requested_at, deadline_at,
                               state, next_try_at, is_closing, has_waited)
        select fresh.operation_id, 'EXIT', investor_login, leaver.id, ${masterLogin}, '', ${requestedAt}::timestamptz,
               ${requestedAt}::timestamptz, 'WAITING', clock_timestamp(), true, true
        from leaver join unnest(${operationIds}::text[]) with ordinality as fresh (operation_id, number) using (number)
        on conflict do nothing`,
  );
}

/** Archives the Masters of whose pools nothing is left, and returns their logins. The first Investor is looked for by an index: each look comes here. */
export async function archiveClosed(db: Queryable, at: Date): Promise<string[]> {
  return await column<string>(
    db,
    sql`update master_pool as wanted
        set closed_at = ${at}
        where closing_at is not null and closed_at is null and stopped_reason is null and ${ARE_BOOKS_WHOLE}
          and own_waiting_minor = 0 and own_unredeemed_minor = 0
          and not ${HAS_OWN_CAPITAL} and ${IS_FLAT} and not exists (select ${UNDECIDED_ASSIGNMENTS})
          and (select id from subscription where master_login = login and status in ('ACTIVE', 'PAUSED') limit 1) is null
          and not exists (
            select from departure where lock_owner is not null and kind = 'EXIT' and master_login = wanted.login
          )
        returning login`,
  );
}

/** Seconds are never below 0, even when the clocks of the service and the database differ. */
export async function readClosings(db: Queryable): Promise<{ readonly count: number; readonly seconds: number }> {
  return await one(
    db,
    sql`select count(*)::int as count,
               greatest(extract(epoch from clock_timestamp() - coalesce(min(${PROGRESSED_AT}), clock_timestamp())), 0)::float8 as seconds
        from master_pool as wanted
        where closing_at is not null and closed_at is null`,
  );
}
