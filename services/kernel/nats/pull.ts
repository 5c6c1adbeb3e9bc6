import type { JsMsg } from "nats";
import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { type Bell, createBell, pause } from "../bell.ts";
import { entryFromHeaders } from "../feed/headers.ts";
import type { Log } from "../log.ts";
import { type Arrivals, openConsumer, type Wanted } from "./arrivals.ts";
import type { Broker } from "./connect.ts";

export type PullOptions = Wanted & {
  /** Resolves when all entries are filed and may be acked. */
  readonly deliver: (entries: readonly FeedEntry[]) => Promise<void>;
  readonly log: Log;
};

const LOOK_MS = 60_000;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;

/** Brings what JetStream delivers to `deliver`, for ever. Everything that goes wrong here is only latency. */
export function pullEntries(broker: Broker, options: PullOptions): AsyncDisposable {
  const stop = new AbortController();
  const bell = createBell();
  const finished = loop(broker, options, bell, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await finished;
    },
  };
}

async function loop(broker: Broker, options: PullOptions, bell: Bell, signal: AbortSignal): Promise<void> {
  const { log, consumer, stream } = options;
  let failures = 0;
  while (!signal.aborted) {
    try {
      using arrivals = await openConsumer(broker, options, bell);
      if (failures > 0) log.info("the consumer is back", { stream: stream.name, consumer });
      failures = 0;
      await deliverAll(arrivals, options, bell, signal);
    } catch (error) {
      failures += 1;
      if (failures === 1) log.warn("the consumer is lost and opened again", { stream: stream.name, consumer, error });
      await pause(retryDelay(failures), signal);
    }
  }
}

/** A batch is what arrived while the last one was filed, never what a timer collected. */
async function deliverAll(arrivals: Arrivals, options: PullOptions, bell: Bell, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const batch = arrivals.take();
    if (batch.length === 0) {
      if (!arrivals.isOpen()) throw new Error("the consumer or its stream is gone");
      await bell.wait(LOOK_MS, signal);
      continue;
    }
    const isFiled = await deliverBatch(batch, options, retryDelay(failures + 1));
    failures = isFiled ? 0 : failures + 1;
    if (!isFiled) await pause(retryDelay(failures), signal);
  }
}

async function deliverBatch(
  batch: readonly JsMsg[],
  { deliver, log, consumer }: PullOptions,
  retryInMs: number,
): Promise<boolean> {
  const read = batch.map((message) => ({
    message,
    entry: entryFromHeaders(message.data, (name) => message.headers?.get(name) ?? ""),
  }));
  for (const { message, entry } of read) {
    if (entry !== undefined) continue;
    log.error("a message that is no feed entry was dropped", {
      consumer,
      subject: message.subject,
      number: message.seq,
    });
    message.term();
  }
  const known = read.flatMap(({ message, entry }) => (entry === undefined ? [] : [{ message, entry }]));
  // Redelivery reorders; the numbers do not.
  const entries = known.map(({ entry }) => entry).toSorted((left, right) => Number(left.number - right.number));
  try {
    if (entries.length > 0) await deliver(entries);
  } catch (error) {
    log.warn("entries could not be filed and are delivered again", {
      consumer,
      count: entries.length,
      retry_in_ms: retryInMs,
      error,
    });
    for (const { message } of known) message.nak(retryInMs);
    return false;
  }
  for (const { message } of known) message.ack();
  return true;
}

function retryDelay(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
}
