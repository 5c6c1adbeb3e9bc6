import type { Log } from "../../../services/kernel/log.ts";
import { feedReader, type FeedReader } from "../../../services/kernel/feed/read.ts";
import { startRelay } from "../../../services/kernel/feed/relay.ts";
import type { Pool } from "../../../services/kernel/postgres/pool.ts";
import type { Broker } from "./broker.ts";
import type { SimulatedProcess } from "./process.ts";

export type RelayParts = {
  readonly process: SimulatedProcess;
  readonly pool: Pool;
  readonly broker: Broker;
  readonly log: Log;
};

/** Relays the feeds of a service as kernel/backbone.ts does, and returns the reader for other processes. */
export async function relayFeeds(
  { process, pool, broker, log }: RelayParts,
  service: string,
  feeds: readonly string[],
): Promise<FeedReader> {
  const signal = (feed: string, lastNumber: bigint): void => broker.signal(feed, lastNumber);
  const forward = broker.publisherOf(process);
  const relay = await startRelay({ service, pool, forward, signal, log });
  // The relay ends with its process; otherwise it would run in the next history.
  process.whenCrashed(() => void relay[Symbol.asyncDispose]());
  return feedReader(pool, feeds);
}
