import { failpoint } from "../failpoint.ts";
import type { Pool } from "../postgres/pool.ts";
import { markForwarded, type PublishedEntry } from "./outbox.ts";

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
/** Entries that are forwarded at the same time; all are in memory until the broker has acknowledged each. */
export const FORWARD_BATCH = 500;

/** An entry that JetStream carries. */
export type ForwardedEntry = PublishedEntry & { readonly subject: string };

/** Sends the entries to JetStream, all at once, and records those that it has stored. */
export async function forwardEntries(
  { pool, service, forward }: { readonly pool: Pool; readonly service: string; readonly forward: Forward },
  entries: readonly ForwardedEntry[],
): Promise<void> {
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
}

/** The broker drops a second message with the same Nats-Msg-Id. */
function headersOf(service: string, entry: ForwardedEntry): Record<string, string> {
  return {
    "Nats-Msg-Id": `${service}:${entry.id}`,
    "Feed-Name": entry.feed,
    [FEED_NUMBER]: String(entry.number),
    "Feed-Type": entry.type,
    "Request-Id": entry.requestId,
  };
}
