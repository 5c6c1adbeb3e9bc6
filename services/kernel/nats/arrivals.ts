import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  type JetStreamManager,
  type JsMsg,
  nanos,
  type NatsError,
} from "nats";
import type { WakeSignal } from "../wake-signal.ts";
import type { Broker } from "./connect.ts";
import { ensureStreams, jetStreamManager, type StreamDefinition } from "./streams.ts";

export type ConsumerTarget = {
  readonly stream: StreamDefinition;
  /** Durable name: one per consuming service and feed. */
  readonly consumer: string;
  /** The one subject, wildcards allowed, that the consumer filters. */
  readonly subject: string;
};

/** Messages that JetStream has delivered and the caller has not taken. Notifies when a message arrives or the source is lost. */
export type Arrivals = Disposable & {
  readonly isOpen: () => boolean;
  readonly take: () => JsMsg[];
};

type Config = Partial<ConsumerConfig> & { readonly durable_name: string };

const CONSUMER_EXISTS = 10_148;
/** Messages that are requested in advance. One read of the feed answers all that are taken together. */
const MAX_BATCH = 500;
/** As many as one process requests; more would only wait in its memory. */
const MAX_ACK_PENDING = 500;
/** Longer than a read of the feed. A message that a crashed process has taken is delivered again after this time. */
const ACK_WAIT_MS = 30_000;
/** The interval of pull requests; a deleted consumer is noticed within about this time. */
const PULL_EXPIRES_MS = 5_000;

/** Creates the stream too: a broker whose directory was deleted has neither. */
export async function openConsumer(
  broker: Broker,
  { stream, consumer, subject }: ConsumerTarget,
  wakeSignal: WakeSignal,
): Promise<Arrivals> {
  await ensureStreams(broker, [stream]);
  const manager = await jetStreamManager(broker);
  await ensureConsumer(manager, stream.name, configOf(consumer, subject));
  const source = await broker.connection.jetstream().consumers.get(stream.name, consumer);
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

/** For an existing consumer, older servers treat `add` as an update; newer ones refuse it when the configuration differs. */
async function ensureConsumer(manager: JetStreamManager, stream: string, config: Config): Promise<void> {
  try {
    await manager.consumers.add(stream, config);
  } catch (error) {
    if ((error as Partial<NatsError>).api_error?.err_code !== CONSUMER_EXISTS) throw error;
    await manager.consumers.update(stream, config.durable_name, config);
  }
}

/** Works with NATS 2.9: one filter subject, no back-off list (it would override ack_wait), redelivery without limit. */
function configOf(name: string, subject: string): Config {
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
