import type { JsMsg } from "nats";
import { FEED_NUMBER } from "../feed/relay.ts";
import type { Log } from "../process/log.ts";
import { backOffMs, MAX_FEED_RETRY_MS } from "../jobs/retry.ts";
import { retryLevel } from "../jobs/transient-failure.ts";
import { pause } from "../jobs/wake-signal.ts";
import type { Broker } from "./connect.ts";

export type PullOptions = {
  /** Its name. */
  readonly stream: string;
  /** Durable name: one per consuming service and feed. */
  readonly consumer: string;
  /** Reads the feed, unless this number is received; messages are acked when it resolves. */
  readonly catchUp: (lastNumber: bigint) => Promise<void>;
  readonly log: Log;
};

/** Messages that are requested in advance. One read of the feed answers those that arrived before it. */
const MAX_MESSAGES = 500;
/** The interval of pull requests; a deleted consumer is noticed within about this time. */
const PULL_EXPIRES_MS = 5_000;
const NUMBER = /^\d{1,19}$/;

/**
 * Uses each message of JetStream as a wake-up signal: the feed is read from its owner, then the message is acked. Only the
 * number of a message is used, so a lost, repeated or forged message costs latency or a read.
 */
export function pullWakeUps(broker: Broker, options: PullOptions): AsyncDisposable {
  const stop = new AbortController();
  const finished = pullAgain(broker, options, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await finished;
    },
  };
}

/** Opens the consumer again while it or its stream is missing: it was deleted, or the files of the broker were. */
async function pullAgain(broker: Broker, options: PullOptions, signal: AbortSignal): Promise<void> {
  const { log, consumer, stream } = options;
  let failures = 0;
  const opened = (): void => {
    if (failures > 0) log.info("consumer opened again", { stream, consumer });
    failures = 0;
  };
  while (!signal.aborted) {
    try {
      await pull(broker, options, signal, opened);
    } catch (error) {
      failures += 1;
      if (failures === 1) log.info("consumer lost, retry scheduled", { stream, consumer, error });
      await pause(backOffMs(failures, MAX_FEED_RETRY_MS), signal);
    }
  }
}

async function pull(broker: Broker, options: PullOptions, signal: AbortSignal, opened: () => void): Promise<void> {
  const { stream, consumer, catchUp, log } = options;
  const source = await broker.connection.jetstream().consumers.get(stream, consumer);
  const messages = await source.consume({
    max_messages: MAX_MESSAGES,
    expires: PULL_EXPIRES_MS,
    abort_on_missing_resource: true,
  });
  opened();
  const end = (): void => messages.stop();
  signal.addEventListener("abort", end, { once: true });
  try {
    let failures = 0;
    for await (const message of messages) {
      try {
        await catchUp(numberOf(message));
        message.ack();
        failures = 0;
      } catch (error) {
        failures += 1;
        const retryInMs = backOffMs(failures, MAX_FEED_RETRY_MS);
        log[retryLevel(error)]("feed not read, redelivery scheduled", { consumer, retry_in_ms: retryInMs, error });
        message.nak(retryInMs);
        await pause(retryInMs, signal);
      }
      if (signal.aborted) return;
    }
  } finally {
    signal.removeEventListener("abort", end);
    messages.stop();
  }
  if (!signal.aborted) throw new Error("the consumer or its stream was deleted");
}

/** 0 when the message has no number of a feed: nothing is read for it. */
function numberOf(message: JsMsg): bigint {
  const text = message.headers?.get(FEED_NUMBER) ?? "";
  return NUMBER.test(text) ? BigInt(text) : 0n;
}
