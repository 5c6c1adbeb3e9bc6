import { retryLevel } from "../transient-failure.ts";
import type { JsMsg } from "nats";
import { type WakeSignal, createWakeSignal, pause } from "../wake-signal.ts";
import { FEED_NUMBER } from "../feed/relay.ts";
import type { Log } from "../log.ts";
import { backOffMs, MAX_FEED_RETRY_MS } from "../retry.ts";
import type { Broker } from "./connect.ts";

type ConsumerTarget = {
  /** Its name. */
  readonly stream: string;
  /** Durable name: one per consuming service and feed. */
  readonly consumer: string;
};

/** Messages that JetStream has delivered and the caller has not taken. Notifies when a message arrives or the source is lost. */
type Arrivals = Disposable & {
  readonly isOpen: () => boolean;
  readonly take: () => JsMsg[];
};

/** Messages that are requested in advance. One read of the feed answers all that are taken together. */
const MAX_BATCH = 500;
/** The interval of pull requests; a deleted consumer is noticed within about this time. */
const PULL_EXPIRES_MS = 5_000;

/** Rejects while the stream or the consumer does not exist: it was deleted, or the files of the broker were. */
async function openConsumer(
  broker: Broker,
  { stream, consumer }: ConsumerTarget,
  wakeSignal: WakeSignal,
): Promise<Arrivals> {
  const source = await broker.connection.jetstream().consumers.get(stream, consumer);
  const queue: JsMsg[] = [];
  let isOpen = true;
  const messages = await source.consume({
    max_messages: MAX_BATCH,
    expires: PULL_EXPIRES_MS,
    abort_on_missing_resource: true,
    callback(message) {
      queue.push(message);
      wakeSignal.notify();
    },
  });
  void messages.closed().then(() => {
    isOpen = false;
    wakeSignal.notify();
  });
  return {
    isOpen: () => isOpen,
    take: () => queue.splice(0, MAX_BATCH),
    [Symbol.dispose]: () => messages.stop(),
  };
}

export type PullOptions = ConsumerTarget & {
  /** Reads the feed, unless this number is received; messages are acked when it resolves. */
  readonly catchUp: (lastNumber: bigint) => Promise<void>;
  readonly log: Log;
};

/** Only bounds the wait: an arrival and the loss of the consumer end it at once. */
const WAIT_MS = 60_000;
const NUMBER = /^\d{1,19}$/;

/**
 * Uses each message of JetStream as a wake-up signal: the feed is read from its owner, then the message is acked. Only the
 * number of a message is used, so a lost, repeated or forged message costs latency or a read.
 */
export function pullWakeUps(broker: Broker, options: PullOptions): AsyncDisposable {
  const stop = new AbortController();
  const wakeSignal = createWakeSignal();
  const finished = loop(broker, options, wakeSignal, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await finished;
    },
  };
}

async function loop(broker: Broker, options: PullOptions, wakeSignal: WakeSignal, signal: AbortSignal): Promise<void> {
  const { log, consumer, stream } = options;
  let failures = 0;
  while (!signal.aborted) {
    try {
      using arrivals = await openConsumer(broker, options, wakeSignal);
      if (failures > 0) log.info("consumer opened again", { stream, consumer });
      failures = 0;
      await takeAll(arrivals, options, wakeSignal, signal);
    } catch (error) {
      failures += 1;
      if (failures === 1) log.info("consumer lost, retry scheduled", { stream, consumer, error });
      await pause(backOffMs(failures, MAX_FEED_RETRY_MS), signal);
    }
  }
}

/** A batch has the messages that arrived while the feed was read for the previous batch; there is no timer. */
async function takeAll(
  arrivals: Arrivals,
  options: PullOptions,
  wakeSignal: WakeSignal,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const batch = arrivals.take();
    if (batch.length === 0) {
      if (!arrivals.isOpen()) throw new Error("the consumer or its stream was deleted");
      await wakeSignal.wait(WAIT_MS, signal);
      continue;
    }
    const isRead = await readFor(batch, options, backOffMs(failures + 1, MAX_FEED_RETRY_MS));
    failures = isRead ? 0 : failures + 1;
    if (!isRead) await pause(backOffMs(failures, MAX_FEED_RETRY_MS), signal);
  }
}

async function readFor(
  batch: readonly JsMsg[],
  { catchUp, log, consumer }: PullOptions,
  retryInMs: number,
): Promise<boolean> {
  try {
    await catchUp(batch.map(numberOf).reduce((last, number) => (number > last ? number : last)));
  } catch (error) {
    log[retryLevel(error)]("feed not read, redelivery scheduled", {
      consumer,
      count: batch.length,
      retry_in_ms: retryInMs,
      error,
    });
    for (const message of batch) message.nak(retryInMs);
    return false;
  }
  for (const message of batch) message.ack();
  return true;
}

/** 0 when the message has no number of a feed: nothing is read for it. */
function numberOf(message: JsMsg): bigint {
  const text = message.headers?.get(FEED_NUMBER) ?? "";
  return NUMBER.test(text) ? BigInt(text) : 0n;
}
