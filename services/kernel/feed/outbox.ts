import { many, sql, unnest } from "../postgres/query.ts";
import type { Transaction } from "../postgres/transaction.ts";

export type NewEntry = {
  readonly feed: string;
  readonly type: string;
  /** Set when JetStream carries the event too. */
  readonly subject: string | undefined;
  readonly payload: Uint8Array;
  /** The request that led to the event. */
  readonly requestId: string;
};

/** The place of an entry in its feed. */
type Place = { readonly feed: string; readonly number: bigint; readonly id: bigint };

export type PublishedEntry = NewEntry & Place;

/**
 * Appends the events to their feeds, those of one feed in their order. The heads of the feeds are locked until the commit, so
 * the next transaction takes its numbers after it: a reader that sees an entry sees all entries with lower numbers.
 */
export async function insertEntries(tx: Transaction, events: readonly NewEntry[]): Promise<PublishedEntry[]> {
  const places = await many<Place>(
    tx,
    sql`with event as (
          select feed, type, subject, payload, request_id, rank
          from ${unnest(events)} with ordinality as event (
            feed text, type text, subject text, payload bytea, request_id text, rank
          )
        ), head as (
          insert into feed_head (feed, last_number)
          select feed, count(*) from event group by feed order by feed
          on conflict (feed) do update set last_number = feed_head.last_number + excluded.last_number
          returning feed, last_number
        )
        insert into outbox (feed, number, type, subject, payload, request_id)
        select feed, last_number + 1 - row_number() over (partition by feed order by rank desc),
               type, subject, payload, request_id
        from event join head using (feed)
        order by rank
        returning feed, number, id`,
  );
  return events.map((event, index) => ({ ...event, ...(places[index] as Place) }));
}
