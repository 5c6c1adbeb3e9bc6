import type { EventType } from "../contract/event.ts";
import { many, sql } from "../postgres/query.ts";
import { afterCommit } from "../postgres/transaction.ts";
import type { Transaction } from "../postgres/transaction.ts";
import { wakeRelays } from "./wake.ts";

export type Fact<Message> = {
  /** <service>.<noun>, for example platform.movements. */
  readonly feed: string;
  readonly event: EventType<Message>;
  readonly message: NoInfer<Message>;
  /** Set when JetStream carries the fact too. */
  readonly subject?: string | undefined;
  /** The request that led to the fact. */
  readonly requestId?: string | undefined;
};

/** Tells a fact in the transaction of the change that made it true: both are there, or neither. */
export async function tell<Message>(tx: Transaction, fact: Fact<Message>): Promise<void> {
  await tellAll(tx, [fact]);
}

/** Readers see the facts in the order of the array. */
export async function tellAll<Message>(tx: Transaction, facts: readonly Fact<Message>[]): Promise<void> {
  if (facts.length === 0) return;
  await many(
    tx,
    sql`insert into outbox (feed, type, subject, payload, request_id)
        select feed, type, subject, payload, request_id
        from unnest(
          ${facts.map(({ feed }) => feed)}::text[],
          ${facts.map(({ event }) => event.$type)}::text[],
          ${facts.map(({ subject }) => subject)}::text[],
          ${facts.map(({ event, message }) => event.encode(message).finish())}::bytea[],
          ${facts.map(({ requestId }) => requestId ?? "")}::text[]
        ) with ordinality as fact (feed, type, subject, payload, request_id, place)
        order by place`,
  );
  afterCommit(tx, wakeRelays);
}
