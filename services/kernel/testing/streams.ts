import { testNats } from "#test/support/nats.ts";
import { silent as log } from "./calls.ts";
import { FEED_NUMBER } from "../feed/forward.ts";
import { type Broker, connectNats } from "../nats/connect.ts";
import { jetStreamPublisher } from "../nats/publisher.ts";
import type { StreamDefinition } from "../nats/streams.ts";

export const WITHIN = { timeout: 15_000, interval: 25 };

export type TestStream = { readonly broker: Broker; readonly stream: StreamDefinition; readonly subject: string };

export async function newStream(server?: { readonly url: string }): Promise<TestStream & AsyncDisposable> {
  const { url, prefix, stream: name } = await testNats();
  const broker = await connectNats({ url: server?.url ?? url, name: prefix, log });
  const stream = { name, subjects: [`${prefix}.>`], maxBytes: 10_000_000, replicas: 1 };
  return { broker, stream, subject: `${prefix}.moved.7`, [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose]() };
}

/** Forwards entries of a feed by their numbers. */
export function forwarding({ broker, stream, subject }: TestStream): (...numbers: number[]) => Promise<void> {
  const forward = jetStreamPublisher(broker, [stream]);
  return async (...numbers) => {
    await Promise.all(
      numbers.map((number) =>
        forward(subject, Buffer.from([number]), {
          "Nats-Msg-Id": `test:${number * 10}`,
          [FEED_NUMBER]: String(number),
        }),
      ),
    );
  };
}
