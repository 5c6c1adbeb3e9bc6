import { Gauge } from "prom-client";
import { type Job, showRegularly } from "../job.ts";
import type { Log } from "../log.ts";
import type { Broker } from "./connect.ts";
import type { StreamDefinition } from "./stream-config.ts";
import { jetStreamManager } from "./streams.ts";

const ofStream = (name: string, help: string) => new Gauge({ name, help, labelNames: ["stream"] });

const bytes = ofStream("pamm_stream_bytes", "Size of a stream of NATS.");
const maxBytes = ofStream("pamm_stream_max_bytes", "Size at which the stream rejects new messages.");
const messages = ofStream("pamm_stream_messages", "Messages in the stream.");
const replicas = ofStream("pamm_stream_replicas", "Copies of the stream that the broker is to keep.");
const pending = new Gauge({
  name: "pamm_stream_consumer_pending",
  help: "Messages of the stream that its consumer has not received yet.",
  labelNames: ["stream", "consumer"],
});

export type WatchStreamsOptions = {
  readonly broker: Broker;
  /** Streams that this service writes or reads: it may ask for no other. */
  readonly streams: readonly StreamDefinition[];
  readonly service: string;
  readonly log: Log;
};

/** Shows the streams of a service. One that the broker does not report is not shown, so that no old value is taken for a present one. */
export function watchStreams({ broker, streams, service, log }: WatchStreamsOptions): Job {
  return showRegularly("watch streams", log, async () => {
    for (const stream of streams) await showStream(broker, stream, service).catch(() => hide(stream));
  });
}

async function showStream(broker: Broker, { name, consumers }: StreamDefinition, service: string): Promise<void> {
  const manager = await jetStreamManager(broker);
  const { state, config } = await manager.streams.info(name);
  bytes.set({ stream: name }, state.bytes);
  maxBytes.set({ stream: name }, config.max_bytes);
  messages.set({ stream: name }, state.messages);
  replicas.set({ stream: name }, config.num_replicas);
  for (const consumer of consumers) {
    if (consumer.name !== service) continue;
    const { num_pending } = await manager.consumers.info(name, consumer.name);
    pending.set({ stream: name, consumer: consumer.name }, num_pending);
  }
}

function hide({ name, consumers }: StreamDefinition): void {
  for (const gauge of [bytes, maxBytes, messages, replicas]) gauge.remove({ stream: name });
  for (const consumer of consumers) pending.remove({ stream: name, consumer: consumer.name });
}
