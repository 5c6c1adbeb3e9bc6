import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import type { Lease } from "../postgres/lease.ts";
import { execute, many, matchesRow, one, type Queryable, sql } from "../postgres/query.ts";

/** The newest number of a feed. */
export type FeedHead = { readonly feed: string; readonly lastNumber: bigint };

export type UnforwardedEntry = FeedEntry & { readonly feed: string; readonly subject: string };

/** Ids begin at milliseconds since 2025 times this, so far fewer events than this may be published in a millisecond on average. */
const IDS_PER_MS = 512;

/**
 * Raises the ids to the time of day. A database that was restored to an older time would otherwise give old ids to new
 * entries, and a reader could not detect that its cursor points into a history that no longer exists.
 */
export async function raiseIds(db: Queryable): Promise<void> {
  await many(
    db,
    sql`select setval(sequence, floor)
        from pg_get_serial_sequence('outbox', 'id') as sequence,
             lateral (
               select (extract(epoch from clock_timestamp() - timestamptz '2025-01-01Z') * 1000)::bigint * ${IDS_PER_MS}::bigint
             ) as time (floor)
        where floor > (select last_value from outbox_id_seq)`,
  );
}

/** Seconds; 0 when nothing waits. */
export type OutboxAge = { readonly unsequenced: number; readonly unforwarded: number };

/** How long the oldest entries wait, by the clock of the database. */
export async function readOutboxAge(db: Queryable): Promise<OutboxAge> {
  return one<OutboxAge>(
    db,
    sql`select coalesce(extract(epoch from clock_timestamp() - unsequenced.published_at), 0)::double precision as unsequenced,
               coalesce(extract(epoch from clock_timestamp() - unforwarded.published_at), 0)::double precision as unforwarded
        from (select) as nothing
             left join (select published_at from outbox where number is null order by id limit 1) as unsequenced on true
             left join (
               select published_at
               from outbox
               where subject is not null and forwarded_at is null and number is not null
               order by id
               limit 1
             ) as unforwarded on true`,
  );
}

export async function hasUnsequenced(db: Queryable): Promise<boolean> {
  return await matchesRow(db, sql`select from outbox where number is null limit 1`);
}

/**
 * Sequences committed entries in the order of their ids, from the last number of each feed on. The row of the lease is
 * locked in the same statement: with an older fence nothing is sequenced, and no other relay can take the lease before the statement ends.
 */
export async function sequenceEntries(db: Queryable, lease: Lease, limit: number): Promise<FeedHead[]> {
  return many<FeedHead>(
    db,
    sql`with held as (
          select from lease where name = ${lease.name} and fence = ${lease.fence} for share
        ), fresh as (
          select id, feed from outbox where number is null order by id limit ${limit}
        ), head as (
          select feed, coalesce((select max(number) from outbox where outbox.feed = fed.feed), 0) as last
          from (select distinct feed from fresh) as fed
        ), sequence as (
          select id, head.last + row_number() over (partition by feed order by id) as number
          from fresh join head using (feed)
        ), sequenced as (
          update outbox
          set number = sequence.number
          from sequence
          where outbox.id = sequence.id and exists (select from held)
          returning outbox.feed, outbox.number
        )
        select feed, max(number) as "lastNumber" from sequenced group by feed`,
  );
}

/** What JetStream should carry and does not yet, in the order of the numbers of each feed. */
export async function listUnforwarded(db: Queryable, limit: number): Promise<UnforwardedEntry[]> {
  return many<UnforwardedEntry>(
    db,
    sql`select *
        from (
          select feed, subject, number, id, type, payload, published_at as "publishedAt", request_id as "requestId"
          from outbox
          where subject is not null and forwarded_at is null and number is not null
          order by id
          limit ${limit}
        ) as unforwarded
        order by feed, number`,
  );
}

export async function markForwarded(db: Queryable, ids: readonly bigint[]): Promise<void> {
  await execute(db, sql`update outbox set forwarded_at = clock_timestamp() where id = any(${ids}::bigint[])`);
}
