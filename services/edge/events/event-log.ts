import { Counter } from "prom-client";
import { callContext } from "#kernel/contract/context.ts";
import type { Client } from "#kernel/contract/contract.ts";
import { consumeFeed, type ConsumerOptions, type FeedConsumer } from "#kernel/feed/consume.ts";
import type { EntryOf } from "#kernel/feed/receive-page.ts";
import type { Log } from "#kernel/process/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { afterCommit } from "#kernel/postgres/transaction.ts";
import type { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { StateChanged } from "#proto/pamm/common/v1/state.ts";
import { invalid } from "../problems/problem.ts";
import { type EventFilter, type EventPage, insertEvents, type NewEvent, readEvents } from "./store/events.ts";

export type EventLog = {
  readonly read: (filter: EventFilter) => Promise<EventPage>;
  /** Asks the services for what is new. Without it they are asked every twenty seconds. */
  readonly look: () => void;
};

/** The services whose states callers see. */
const OWNERS = ["funding", "subscription", "fee", "platform"] as const;
/** Without a caller that looks. A system without traffic hardly makes statements. */
const POLL_MS = 20_000;
/** While a caller looks. Each read costs its service, the broker and both databases about as much as an event. */
const LOOK_GAP_MS = 250;
/** The owner moves what is new into its feed first, and then reads by an index. */
const READ_WITHIN_MS = 5_000;

/**
 * Records the states of all services in one order. Each replica reads; the cursor of a feed, which moves in the transaction that records its
 * entries, lets one of them record each entry.
 */
export async function openEventLog(
  stack: AsyncDisposableStack,
  pool: Pool,
  /** A client for the feed of states of the service. */
  feedsOf: (service: string) => Client<FeedServiceService>,
  log: Log,
): Promise<EventLog> {
  const consumers: FeedConsumer[] = [];
  for (const service of OWNERS) {
    const client = feedsOf(service);
    const read: ConsumerOptions<typeof StateChanged>["read"] = (request, signal) =>
      client.read(request, callContext({ caller: "edge", withinMs: READ_WITHIN_MS, signal }));
    const feed = { ...recordStates(service), pool, pollMs: POLL_MS, minGapMs: LOOK_GAP_MS, read, log };
    consumers.push(stack.use(await consumeFeed(feed)));
  }
  return {
    read: (filter) => readEvents(pool, filter),
    look() {
      for (const consumer of consumers) consumer.look();
    },
  };
}

const recorded = new Counter({
  name: "pamm_events_total",
  help: "Events that callers can read, by kind.",
  labelNames: ["kind"],
});

/** Records what a service has published, with the cursor of its feed in one transaction: each change becomes one event. */
export function recordStates(
  service: string,
): Pick<ConsumerOptions<typeof StateChanged>, "feed" | "events" | "receive"> {
  return {
    feed: `${service}.states`,
    events: [StateChanged],
    async receive(tx, entries) {
      await insertEvents(
        tx,
        entries.map((entry) => eventOf(service, entry)),
      );
      afterCommit(tx, () => {
        for (const { message } of entries) recorded.inc({ kind: message.kind });
      });
    },
  };
}

function eventOf(service: string, { id, publishedAt, message }: EntryOf<typeof StateChanged>): NewEvent {
  const { kind, state, notedAt, amount, ...facts } = message;
  return {
    key: `${service}-${id}`,
    type: `${kind}.${state.toLowerCase()}`,
    state,
    subject: facts.subject,
    occurredAt: notedAt ?? publishedAt,
    login: facts.login,
    masterLogin: facts.masterLogin,
    operationId: facts.operationId,
    amountMinor: amount?.minorUnits ?? null,
    dealId: facts.dealId,
    reason: facts.reason,
  };
}

/** An id that no event has had is of another system, or a mistake: the events until then would be left out without a word. */
export function demandKnown(after: bigint, { issuedThrough }: Pick<EventPage, "issuedThrough">): void {
  if (after <= issuedThrough) return;
  const message = `after must be the id of an event; the highest one is ${issuedThrough}.`;
  throw invalid([{ field: "after", code: "invalid_cursor", message }]);
}
