import type { JsMsg } from "nats";
import type { WakeSignal } from "../wake-signal.ts";
import type { Broker } from "./connect.ts";

export type ConsumerTarget = {
  /** Its name. */
  readonly stream: string;
  /** Durable name: one per consuming service and feed. */
  readonly consumer: string;
};

/** Messages that JetStream has delivered and the caller has not taken. Notifies when a message arrives or the source is lost. */
export type Arrivals = Disposable & {
  readonly isOpen: () => boolean;
  readonly take: () => JsMsg[];
};

/** Messages that are requested in advance. One read of the feed answers all that are taken together. */
const MAX_BATCH = 500;
/** The interval of pull requests; a deleted consumer is noticed within about this time. */
const PULL_EXPIRES_MS = 5_000;

/** Rejects while the stream or the consumer does not exist: it was deleted, or the files of the broker were. */
export async function openConsumer(
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
