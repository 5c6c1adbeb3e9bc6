import type { Pool } from "pg";
import type { EventType } from "../contract/event.ts";
import { afterCommit, beforeCommit, poolOf, type Transaction } from "../postgres/transaction.ts";
import { insertEntries, type NewEntry, type PublishedEntry } from "./outbox.ts";

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
export function publish<Message>(tx: Transaction, event: PublishedEvent<Message>): void {
  publishAll(tx, [event]);
}

/**
 * Consumers receive the events in the order in which the transaction published them. All are written by one statement right
 * before the commit.
 */
export function publishAll<Message>(tx: Transaction, events: readonly PublishedEvent<Message>[]): void {
  const entries = events.map(({ feed, event, message, subject, requestId = "" }) => {
    return { feed, type: event.$type, subject, payload: event.encode(message).finish(), requestId };
  });
  beforeCommit(tx, append, entries);
}

type Listener = (entries: readonly PublishedEntry[]) => void;

const listeners = new WeakMap<Pool, Listener>();

/** Until disposed, `listener` is called with what each transaction on the pool has published, after its commit. */
export function onPublished(pool: Pool, listener: Listener): Disposable {
  listeners.set(pool, listener);
  return { [Symbol.dispose]: () => void listeners.delete(pool) };
}

async function append(tx: Transaction, events: readonly NewEntry[]): Promise<void> {
  const entries = await insertEntries(tx, events);
  const pool = poolOf(tx);
  afterCommit(tx, () => listeners.get(pool)?.(entries));
}
