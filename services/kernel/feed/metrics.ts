import { Gauge } from "prom-client";
import { SECOND_MS } from "../duration.ts";
import type { OutboxAge } from "./outbox.ts";

const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ["feed"] });

const oldestUnsequenced = new Gauge({
  name: "pamm_outbox_oldest_unsequenced_seconds",
  help: "Age of the oldest published event that is not sequenced, so that no reader can see it; 0 without one.",
});
const oldestUnforwarded = new Gauge({
  name: "pamm_outbox_oldest_unforwarded_seconds",
  help: "Age of the oldest sequenced event that JetStream should carry and does not yet; 0 without one.",
});
const lagEntries = gauge("pamm_feed_lag_entries", "Sequenced entries of a feed that this reader has not received.");
const readAt = gauge(
  "pamm_feed_read_timestamp_seconds",
  "When the owner of the feed last answered this reader; before the first answer, when the reader started.",
);
const stopped = gauge("pamm_feed_stopped", "1 when this reader is stopped until an operator acts.");

// A service without a relay shows no outbox.
for (const hidden of [oldestUnsequenced, oldestUnforwarded]) hidden.remove();

/** Every replica shows the state of the table, whichever replica's relay is active. */
export function showOutbox({ unsequenced, unforwarded }: OutboxAge): void {
  oldestUnsequenced.set(unsequenced);
  oldestUnforwarded.set(unforwarded);
}

export function showReader(feed: string, reader: { readonly lag: bigint; readonly stopped: string | undefined }): void {
  lagEntries.set({ feed }, Number(reader.lag));
  stopped.set({ feed }, reader.stopped === undefined ? 0 : 1);
}

export function showRead(feed: string, at: Date): void {
  readAt.set({ feed }, at.getTime() / SECOND_MS);
}
