import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { failpoint } from "../failpoint.ts";
import type { Pool } from "../postgres/pool.ts";
import { listUnforwarded, markForwarded } from "./outbox.ts";

/** Resolves when the broker has stored the message, now or earlier under the same Nats-Msg-Id. */
export type Forward = (
  subject: string,
  payload: Uint8Array,
  headers: Readonly<Record<string, string>>,
) => Promise<void>;

/** The broker did not confirm. It may have stored the message; sending it again is harmless. */
export class ForwardFailed extends Error {
  override readonly name = "ForwardFailed";
}

/** The header with the number of the entry. */
export const FEED_NUMBER = "Feed-Number";
/** Entries that are published at the same time; all are in memory until the broker has acknowledged each. */
const FORWARD_BATCH = 500;

/** Sends the next sequenced entries to JetStream. True when there may be more at once. */
export async function forwardEntries(pool: Pool, service: string, forward: Forward): Promise<boolean> {
  const entries = await listUnforwarded(pool, FORWARD_BATCH);
  if (entries.length === 0) return false;
  const results = await Promise.allSettled(
    entries.map((entry) => forward(entry.subject, entry.payload, headersOf(service, entry))),
  );
  failpoint("after_publish");
  const stored = entries.filter((_, index) => results[index]?.status === "fulfilled");
  if (stored.length > 0) {
    await markForwarded(
      pool,
      stored.map(({ id }) => id),
    );
  }
  const failure = results.find((result) => result.status === "rejected");
  if (failure !== undefined) {
    const message = `${entries.length - stored.length} of ${entries.length} messages were not stored by the broker`;
    throw new ForwardFailed(message, { cause: failure.reason });
  }
  return entries.length === FORWARD_BATCH;
}

/** The broker drops a second message with the same Nats-Msg-Id. */
function headersOf(service: string, entry: FeedEntry & { readonly feed: string }): Record<string, string> {
  return {
    "Nats-Msg-Id": `${service}:${entry.id}`,
    "Feed-Name": entry.feed,
    [FEED_NUMBER]: String(entry.number),
    "Feed-Type": entry.type,
    "Request-Id": entry.requestId,
  };
}
