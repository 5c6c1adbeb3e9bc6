import type { EventType } from "../contract/event.ts";
import { many, sql } from "../postgres/query.ts";
import { afterCommit, poolOf, type Transaction } from "../postgres/transaction.ts";
import { outboxSignal } from "./outbox-signal.ts";

export type PublishedEvent<Message> = {
  /** <service>.<noun>, for example platform.movements. */
  readonly feed: string;
  readonly event: EventType<Message>;
  readonly message: NoInfer<Message>;
  /** Set when JetStream carries the event too. */
  readonly subject?: string | undefined;
  /** The request that led to the event. */
  readonly requestId?: string | undefined;
};

/** Appends an event to the outbox in the transaction of the change: both are committed, or neither. */
export async function publish<Message>(tx: Transaction, event: PublishedEvent<Message>): Promise<void> {
  await publishAll(tx, [event]);
}

/** Consumers receive the events in the order of the array. */
export async function publishAll<Message>(tx: Transaction, events: readonly PublishedEvent<Message>[]): Promise<void> {
  if (events.length === 0) return;
  await many(
    tx,
    sql`insert into outbox (feed, type, subject, payload, request_id)
        select feed, type, subject, payload, request_id
        from unnest(
          ${events.map(({ feed }) => feed)}::text[],
          ${events.map(({ event }) => event.$type)}::text[],
          ${events.map(({ subject }) => subject)}::text[],
          ${events.map(({ event, message }) => event.encode(message).finish())}::bytea[],
          ${events.map(({ requestId }) => requestId ?? "")}::text[]
        ) with ordinality as event (feed, type, subject, payload, request_id, position)
        order by position`,
  );
  afterCommit(tx, outboxSignal(poolOf(tx)).notify);
}
