import { execute, type Fragment, fragment, many, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export type NewEvent = {
  readonly key: string;
  readonly type: string;
  readonly state: string;
  readonly subject: string;
  readonly occurredAt: Date;
  readonly login: string;
  readonly masterLogin: string;
  readonly operationId: string;
  readonly amountMinor: bigint | null;
  readonly dealId: bigint;
  readonly reason: string;
};

export type StoredEvent = NewEvent & { readonly id: bigint };

export type EventPage = {
  readonly events: readonly StoredEvent[];
  /** Events up to this id may be removed. */
  readonly removedThrough: bigint;
  /** Where the next read goes on: all events of the types up to this id are in this page, or in those before. */
  readonly through: bigint;
  /** No event has had a higher id. The next one may: ids are raised in another database before its events come. */
  readonly issuedThrough: bigint;
  readonly hasMore: boolean;
};

export type EventFilter = {
  readonly after: bigint;
  /** Undefined matches all. */
  readonly types: readonly string[] | undefined;
  readonly limit: number;
};

/**
 * One transaction at a time inserts events, so they become visible in the order of their ids. One that is there already, because a cursor was
 * set back by hand, is left out.
 */
export async function insertEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  await execute(tx, sql`select pg_advisory_xact_lock(hashtextextended('events', 0))`);
  await execute(
    tx,
    sql`insert into event (key, type, state, subject, occurred_at, login, master_login, operation_id, amount_minor, deal_id, reason)
        select key, type, state, subject, occurred_at, login, master_login, operation_id, amount_minor, deal_id, reason
        from ${unnest(events)} with ordinality as new (
          key text, type text, state text, subject text, occurred_at timestamptz, login text, master_login text, operation_id text,
          amount_minor bigint, deal_id bigint, reason text, position
        )
        order by position
        on conflict (key) do nothing`,
  );
}

/** The columns of the row `event`, without its id. */
export const EVENT = fragment`
  event.key, event.type, event.state, event.subject, event.occurred_at as "occurredAt", event.login, event.master_login as "masterLogin",
  event.operation_id as "operationId", event.amount_minor as "amountMinor", event.deal_id as "dealId", event.reason`;

type Row = { [Name in keyof StoredEvent]: StoredEvent[Name] | null } & {
  removedThrough: bigint;
  newest: bigint;
  issued: bigint;
};

/** The next events, and what was removed, by one statement: both are of one instant. */
export async function readEvents(db: Queryable, { after, types, limit }: EventFilter): Promise<EventPage> {
  const rows = await many<Row>(
    db,
    sql`select removed_through as "removedThrough",
               greatest(removed_through, (select coalesce(max(event.id), 0) from event)) as newest,
               coalesce(pg_sequence_last_value('event_id_seq'), 0) as issued,
               event.id, ${EVENT}
        from event_removal
             left join (${pageOf(types, after, limit + 1)}) as event on true
        order by event.id`,
  );
  const found = rows.filter((row): row is Row & StoredEvent => row.id !== null);
  const hasMore = found.length > limit;
  const events = found
    .slice(0, limit)
    .map(({ removedThrough: _through, newest: _newest, issued: _issued, ...event }) => event);
  const { removedThrough = 0n, newest = 0n, issued = 0n } = rows[0] ?? {};
  const reached = hasMore ? (events.at(-1)?.id ?? after) : newest;
  const issuedThrough = issued > newest ? issued : newest;
  return { events, removedThrough, through: reached > after ? reached : after, issuedThrough, hasMore };
}

/** Of several types the next ones of each, so that a rare type costs no more than a frequent one. */
function pageOf(types: readonly string[] | undefined, after: bigint, limit: number): Fragment {
  if (types === undefined) {
    return fragment`select * from event where event.id > ${after} order by event.id limit ${limit}`;
  }
  return fragment`
                 select next.*
                 from unnest(${types}::text[]) as wanted (type)
                      cross join lateral (
                        select * from event where event.type = wanted.type and event.id > ${after} order by event.id limit ${limit}
                      ) as next
                 order by next.id
                 limit ${limit}`;
}

/** Removes the oldest events that were recorded before the instant, and notes how far in the same statement. */
export async function removeEvents(db: Queryable, before: Date, limit: number): Promise<number> {
  const rows = await many<{ id: bigint }>(
    db,
    sql`with oldest as (
          select id, recorded_at from event order by id limit ${limit}
        ), removed as (
          delete from event using oldest
          where event.id = oldest.id and oldest.recorded_at < ${before}
            and not exists (select from oldest as kept where kept.id < oldest.id and kept.recorded_at >= ${before})
          returning event.id
        ), noted as (
          update event_removal
          set removed_through = greatest(removed_through, (select max(id) from removed))
          where exists (select from removed)
        )
        select id from removed`,
  );
  return rows.length;
}
