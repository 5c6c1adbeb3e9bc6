import { Gauge } from "prom-client";
import { type Job, showRegularly } from "../jobs/job.ts";
import type { Log } from "../process/log.ts";
import type { Broker } from "./connect.ts";
import type { StreamDefinition } from "./stream-config.ts";
import { jetStreamManager } from "./streams.ts";

const bytes = new Gauge({ name: "pamm_stream_bytes", help: "Size of a stream of NATS.", labelNames: ["stream"] });
const maxBytes = new Gauge({
  name: "pamm_stream_max_bytes",
  help: "Size at which the stream rejects new messages.",
  labelNames: ["stream"],
});

export type WatchStreamsOptions = {
  readonly broker: Broker;
  /** Streams that this service writes or reads: it may ask for no other. */
  readonly streams: readonly StreamDefinition[];
  readonly log: Log;
};

/** Shows the streams of a service. One that the broker does not report is not shown, so that no old value is taken for a present one. */
export function watchStreams({ broker, streams, log }: WatchStreamsOptions): Job {
  return showRegularly("watch streams", log, async () => {
    for (const { name } of streams) {
      await showStream(broker, name).catch(() => {
        for (const gauge of [bytes, maxBytes]) gauge.remove({ stream: name });
      });
    }
  });
}

async function showStream(broker: Broker, stream: string): Promise<void> {
  const { state, config } = await (await jetStreamManager(broker)).streams.info(stream);
  bytes.set({ stream }, state.bytes);
  maxBytes.set({ stream }, config.max_bytes);
}
