import { connect, nanos } from "nats";

const STREAM = "bench_consume";
const SUBJECT = "bench.consume";
/** As large as an event about a movement. */
const PAYLOAD = Buffer.alloc(90, 1);
const PUBLISHED_AT_ONCE = 1_000;
const FETCHED_AT_ONCE = 500;
const ACK_WAIT_MS = 60_000;

/** The user of the broker who may do everything. */
export type Administrator = { readonly host: string; readonly password: string; readonly caFile: string | undefined };

/** Messages per second that one Node process receives from JetStream and acknowledges one by one, doing nothing with them. */
export async function consumeAlone({ host, password, caFile }: Administrator, count: number): Promise<number> {
  const tls = caFile === undefined ? null : { caFile };
  const connection = await connect({ servers: host, user: "operator", pass: password, tls });
  try {
    const manager = await connection.jetstreamManager();
    const jetStream = connection.jetstream();
    await manager.streams.add({ name: STREAM, subjects: [SUBJECT], max_bytes: 256 * 1024 * 1024 });
    for (let sent = 0; sent < count; sent += PUBLISHED_AT_ONCE) {
      const batch = Array.from({ length: Math.min(PUBLISHED_AT_ONCE, count - sent) });
      await Promise.all(batch.map(() => jetStream.publish(SUBJECT, PAYLOAD)));
    }
    const durable_name = STREAM;
    await manager.consumers.add(STREAM, {
      durable_name,
      ack_policy: "explicit" as never,
      ack_wait: nanos(ACK_WAIT_MS),
    });
    const consumer = await jetStream.consumers.get(STREAM, durable_name);
    const startedMs = performance.now();
    let received = 0;
    const messages = await consumer.consume({ max_messages: FETCHED_AT_ONCE });
    for await (const message of messages) {
      message.ack();
      received += 1;
      if (received === count) break;
    }
    await connection.flush();
    return (count * 1_000) / (performance.now() - startedMs);
  } finally {
    const manager = await connection.jetstreamManager();
    await manager.streams.delete(STREAM);
    await connection.close();
  }
}
