import { failpoint } from "../failpoint.ts";
import type { Pool } from "../postgres/pool.ts";
import { feedHeaders } from "./headers.ts";
import { listUnpublished, markPublished } from "./outbox.ts";

/** Resolves when the broker has stored the message, or has it already under the same Nats-Msg-Id. */
export type Publish = (
  subject: string,
  payload: Uint8Array,
  headers: Readonly<Record<string, string>>,
) => Promise<void>;

/** The broker did not confirm. It may have stored the message; publishing again is harmless. */
export class PublishFailed extends Error {
  override readonly name = "PublishFailed";
}

const PUBLISH_BATCH = 500;

/** Publishes the next batch. True when there may be more at once. */
export async function publishEntries(pool: Pool, service: string, publish: Publish): Promise<boolean> {
  const entries = await listUnpublished(pool, PUBLISH_BATCH);
  if (entries.length === 0) return false;
  const results = await Promise.allSettled(
    entries.map((entry) => publish(entry.subject, entry.payload, feedHeaders(service, entry))),
  );
  failpoint("after_publish");
  const stored = entries.filter((_, index) => results[index]?.status === "fulfilled");
  if (stored.length > 0)
    await markPublished(
      pool,
      stored.map(({ id }) => id),
    );
  const failure = results.find((result) => result.status === "rejected");
  if (failure !== undefined) {
    const message = `${entries.length - stored.length} of ${entries.length} messages were not stored by the broker`;
    throw new PublishFailed(message, { cause: failure.reason });
  }
  return entries.length === PUBLISH_BATCH;
}
