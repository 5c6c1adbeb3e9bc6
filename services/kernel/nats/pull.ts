import { AckPolicy, type ConsumerConfig, DeliverPolicy, type JsMsg, nanos } from "nats";
import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { type Bell, createBell, pause } from "../bell.ts";
import { entryFromHeaders } from "../feed/headers.ts";
import type { Log } from "../log.ts";
import type { Broker } from "./connect.ts";
import { ensureStreams, jetStreamManager, type StreamDefinition } from "./streams.ts";

export type PullOptions = {
  readonly stream: StreamDefinition;
  /** Durable name: one per consuming service and feed. */
  readonly consumer: string;
  /** The one subject, wildcards allowed, whose messages are wanted. */
  readonly subject: string;
  /** Resolves when all entries are filed and may be acked. */
  readonly deliver: (entries: readonly FeedEntry[]) => Promise<void>;
  readonly log: Log;
};

type Arrivals = Disposable & {
  readonly isOpen: () => boolean;
  readonly take: () => JsMsg[];
};

const MAX_BATCH = 500;
const MAX_ACK_PENDING = 500;
const ACK_WAIT_MS = 30_000;
/** A pull request is renewed so often; a consumer that is gone is noticed within about this time. */
const PULL_EXPIRES_MS = 5_000;
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
      using arrivals = await open(broker, options, bell);
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

/** The stream is made again too: a broker whose directory was wiped knows neither. */
async function open(broker: Broker, { stream, consumer, subject }: PullOptions, bell: Bell): Promise<Arrivals> {
  await ensureStreams(broker, [stream]);
  const manager = await jetStreamManager(broker);
  await manager.consumers.add(stream.name, configOf(consumer, subject));
  const source = await broker.connection.jetstream().consumers.get(stream.name, consumer);
  const queue: JsMsg[] = [];
  let isOpen = true;
  const messages = await source.consume({
    max_messages: MAX_BATCH,
    expires: PULL_EXPIRES_MS,
    abort_on_missing_resource: true,
    callback(message) {
      queue.push(message);
      bell.ring();
    },
  });
  void messages.closed().then(() => {
    isOpen = false;
    bell.ring();
  });
  return {
    isOpen: () => isOpen,
    take: () => queue.splice(0, MAX_BATCH),
    [Symbol.dispose]: () => messages.stop(),
  };
}

/** 2.9-safe: one filter subject, no back-off list (it would override ack_wait), tried for ever. */
function configOf(name: string, subject: string): Partial<ConsumerConfig> {
  return {
    durable_name: name,
    filter_subject: subject,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACK_WAIT_MS),
    max_ack_pending: MAX_ACK_PENDING,
    max_deliver: -1,
  };
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
  const entries = known.map(({ entry }) => entry).toSorted((left, right) => (left.number < right.number ? -1 : 1));
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
