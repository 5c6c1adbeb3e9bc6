import { Gauge } from "prom-client";
import type { OutboxAge } from "./outbox.ts";

const labelNames = ["feed"] as const;

const oldestUnnumbered = new Gauge({
  name: "pamm_outbox_oldest_unnumbered_seconds",
  help: "Age of the oldest entry that was told and that no reader can see yet; 0 without one.",
});
const oldestUnpublished = new Gauge({
  name: "pamm_outbox_oldest_unpublished_seconds",
  help: "Age of the oldest numbered entry that JetStream should carry and does not yet; 0 without one.",
});
const lagEntries = new Gauge({
  name: "pamm_feed_lag_entries",
  help: "Entries of a feed that are known to be there and that this reader has not filed.",
  labelNames,
});
const readAt = new Gauge({
  name: "pamm_feed_read_timestamp_seconds",
  help: "When the owner of the feed answered this reader the last time; before that, since when it asks.",
  labelNames,
});
const stopped = new Gauge({
  name: "pamm_feed_stopped",
  help: "1 when this reader stands still until a person acts.",
  labelNames,
});

const MS_PER_SECOND = 1_000;

/** Every replica shows what the table says, also when another one numbers. */
export function showOutbox({ unnumbered, unpublished }: OutboxAge): void {
  oldestUnnumbered.set(unnumbered);
  oldestUnpublished.set(unpublished);
}

export function showReader(feed: string, reader: { readonly lag: bigint; readonly stopped: string | undefined }): void {
  lagEntries.set({ feed }, Number(reader.lag));
  stopped.set({ feed }, reader.stopped === undefined ? 0 : 1);
}

export function showRead(feed: string, at: Date): void {
  readAt.set({ feed }, at.getTime() / MS_PER_SECOND);
}
