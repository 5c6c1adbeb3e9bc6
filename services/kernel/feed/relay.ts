import { Gauge } from "prom-client";
import { failpoint } from "../process/failpoint.ts";
import type { Pool } from "../postgres/pool.ts";
import { execute, fragment, many, sql } from "../postgres/query.ts";
import { Refusal } from "../values/refusal.ts";
import { MAX_FEED_RETRY_MS } from "../jobs/retry.ts";
import { createWakeSignal } from "../jobs/wake-signal.ts";
import type { DueJob } from "../work-queue/due-jobs.ts";
import type { PublishedEntry } from "./outbox.ts";
import { onPublished } from "./publish.ts";

const oldestUnforwarded = new Gauge({
  name: "pamm_outbox_oldest_unforwarded_seconds",
  help: "Age of the oldest event that JetStream should carry and does not yet; 0 when there is none.",
});
// A process without a relay shows no outbox.
oldestUnforwarded.remove();

/** Resolves when the broker has stored the message, now or earlier under the same Nats-Msg-Id. */
export type Forward = (
  subject: string,
  payload: Uint8Array,
  headers: Readonly<Record<string, string>>,
) => Promise<void>;

export type RelayOptions = {
  readonly service: string;
  readonly pool: Pool;
  /** Sends an entry to JetStream. */
  readonly forward: Forward;
  /** Sends a wake-up signal to the readers of a feed. The signal may be lost; the function must not throw. */
  readonly signal: (feed: string, lastNumber: bigint) => void;
};

export type Relay = Disposable & {
  /** Sends to JetStream what this process has committed, and what another one left behind; it belongs to the due jobs of the service. */
  readonly forwarding: DueJob;
};

/** The header with the number of the entry. */
export const FEED_NUMBER = "Feed-Number";
/** Readers are signalled before; consumers of JetStream are outside the path of money. */
const MIN_GAP_MS = 100;
/** Entries that are forwarded at the same time; all are in memory until the broker has acknowledged each. */
const FORWARD_BATCH = 500;

/**
 * Signals readers when this process has committed entries, and has the entries with a subject sent to JetStream. Each replica has a
 * relay, and none needs to know of the others: a message that two of them send is stored once.
 */
export function startRelay(options: RelayOptions): Relay {
  const { pool, signal } = options;
  const wake = createWakeSignal();
  const listening = onPublished(pool, (entries) => {
    for (const [feed, lastNumber] of lastNumbers(entries)) signal(feed, lastNumber);
    if (entries.some(({ subject }) => subject !== undefined)) wake.notify();
  });
  return {
    forwarding: {
      name: "forward feeds",
      wake,
      minGapMs: MIN_GAP_MS,
      maxRetryMs: MAX_FEED_RETRY_MS,
      due: () => nextUnforwarded,
      work: () => forwardNext(options),
    },
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}

function lastNumbers(entries: readonly PublishedEntry[]): ReadonlyMap<string, bigint> {
  return new Map(entries.map(({ feed, number }) => [feed, number]));
}

/** An entry that JetStream should carry, and its age in seconds by the clock of the database. */
type UnforwardedEntry = PublishedEntry & { readonly subject: string; readonly age: number };

/** Subquery: since when the oldest of them waits; null without one. */
const nextUnforwarded = fragment`(
  select published_at from outbox where subject is not null and forwarded_at is null order by id limit 1
)`;

/** Sends the oldest entries, all at once, and records those that JetStream has stored. True when there may be more. */
async function forwardNext({ pool, service, forward }: RelayOptions): Promise<boolean> {
  const entries = await many<UnforwardedEntry>(
    pool,
    sql`select feed, subject, number, id, type, payload, request_id as "requestId",
               extract(epoch from clock_timestamp() - published_at)::double precision as age
        from outbox
        where subject is not null and forwarded_at is null
        order by id
        limit ${FORWARD_BATCH}`,
  );
  oldestUnforwarded.set(entries[0]?.age ?? 0);
  if (entries.length === 0) return false;
  const results = await Promise.allSettled(
    entries.map((entry) => forward(entry.subject, entry.payload, headersOf(service, entry))),
  );
  failpoint("after_publish");
  const stored = entries.filter((_, index) => results[index]?.status === "fulfilled").map(({ id }) => id);
  await execute(pool, sql`update outbox set forwarded_at = clock_timestamp() where id = any(${stored}::bigint[])`);
  const failure = results.find((result) => result.status === "rejected");
  if (failure !== undefined) throw notStored(entries.length - stored.length, failure.reason);
  if (entries.length < FORWARD_BATCH) oldestUnforwarded.set(0);
  return entries.length === FORWARD_BATCH;
}

/** The broker did not confirm. It may have stored the messages; sending them again is harmless. */
function notStored(count: number, reason: unknown): Refusal {
  const why = reason instanceof Error ? reason.message : String(reason);
  const message = `${count} messages were not stored by the broker: ${why}`;
  return new Refusal({ code: "broker_unavailable", status: "unavailable", message });
}

/** The broker drops a second message with the same Nats-Msg-Id. */
function headersOf(service: string, entry: UnforwardedEntry): Record<string, string> {
  return {
    "Nats-Msg-Id": `${service}:${entry.id}`,
    "Feed-Name": entry.feed,
    [FEED_NUMBER]: String(entry.number),
    "Feed-Type": entry.type,
    "Request-Id": entry.requestId,
  };
}
