import { Gauge } from "prom-client";
import { SECOND_MS } from "../duration.ts";

const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ["feed"] });

const oldestUnforwarded = new Gauge({
  name: "pamm_outbox_oldest_unforwarded_seconds",
  help: "Age of the oldest event that JetStream should carry and does not yet; 0 when there is none older than seconds.",
});
const lagEntries = gauge("pamm_feed_lag_entries", "Entries of a feed that this reader has not received.");
const readAt = gauge(
  "pamm_feed_read_timestamp_seconds",
  "When the owner of the feed last answered this reader; before the first answer, when the reader started.",
);
const stopped = gauge("pamm_feed_stopped", "1 when this reader is stopped until an operator acts.");

// A service without a relay shows no outbox.
oldestUnforwarded.remove();

export function showOldestUnforwarded(seconds: number): void {
  oldestUnforwarded.set(seconds);
}

export function showReader(feed: string, reader: { readonly lag: bigint; readonly stopped: string | undefined }): void {
  lagEntries.set({ feed }, Number(reader.lag));
  stopped.set({ feed }, reader.stopped === undefined ? 0 : 1);
}

export function showRead(feed: string, at: Date): void {
  readAt.set({ feed }, at.getTime() / SECOND_MS);
}
