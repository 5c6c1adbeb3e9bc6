import { callContext } from "#kernel/contract/context.ts";
import { consumeFeed, type FeedConsumer } from "#kernel/feed/consume.ts";
import type { Log } from "#kernel/log.ts";
import type { Client } from "#kernel/contract/contract.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { type EventFilter, type EventPage, readEvents } from "./store/events.ts";
import { recordStates } from "./record-states.ts";

export type EventLog = {
  readonly read: (filter: EventFilter) => Promise<EventPage>;
  /** Asks the services for what is new. Without it they are asked every twenty seconds. */
  readonly look: () => void;
};

type EventLogOptions = {
  readonly pool: Pool;
  /** A client for the feed of states of the service. */
  readonly feedsOf: (service: string) => Client<FeedServiceService>;
  readonly log: Log;
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
  { pool, feedsOf, log }: EventLogOptions,
): Promise<EventLog> {
  const consumers: FeedConsumer[] = [];
  for (const service of OWNERS) {
    const client = feedsOf(service);
    const consumer = await consumeFeed({
      ...recordStates(service),
      pool,
      pollMs: POLL_MS,
      minGapMs: LOOK_GAP_MS,
      read: (request, signal) =>
        client.read(request, callContext({ caller: "edge", withinMs: READ_WITHIN_MS, signal })),
      log,
    });
    consumers.push(stack.use(consumer));
  }
  return {
    read: (filter) => readEvents(pool, filter),
    look() {
      for (const consumer of consumers) consumer.look();
    },
  };
}
