import { feedReader, type FeedReader } from "../../../services/kernel/feed/read.ts";
import type { DueJob } from "../../../services/kernel/work-queue/due-jobs.ts";
import { startRelay } from "../../../services/kernel/feed/relay.ts";
import type { Pool } from "../../../services/kernel/postgres/pool.ts";
import type { Broker } from "./broker.ts";
import type { SimulatedProcess } from "./process.ts";

export type RelayParts = {
  readonly process: SimulatedProcess;
  readonly pool: Pool;
  readonly broker: Broker;
};

export type RelayedFeeds = {
  /** For other processes. */
  readonly feeds: FeedReader;
  readonly forwarding: DueJob;
};

/** Relays the feeds of a service as kernel/process/backbone.ts does. */
export function relayFeeds(
  { process, pool, broker }: RelayParts,
  service: string,
  feeds: readonly string[],
): RelayedFeeds {
  const signal = (feed: string, lastNumber: bigint): void => broker.signal(feed, lastNumber);
  const forward = broker.publisherOf(process);
  const relay = startRelay({ service, pool, forward, signal });
  // The relay ends with its process; otherwise it would run in the next history.
  process.whenCrashed(() => relay[Symbol.dispose]());
  return { feeds: feedReader(pool, feeds), forwarding: relay.forwarding };
}
