import { testNats } from "#test/support/nats.ts";
import { silent as log } from "./calls.ts";
import { FEED_NUMBER } from "../feed/relay.ts";
import { type Broker, connectNats } from "../nats/connect.ts";
import { jetStreamPublisher } from "../nats/publisher.ts";
import { setUpStreams } from "../../../deploy/nats/streams.ts";
import type { StreamDefinition } from "../nats/stream-config.ts";

export const WITHIN = { interval: 25 };

/** The consumer of every test stream. */
export const READER = "reader";

export type TestStream = {
  readonly broker: Broker;
  readonly stream: StreamDefinition;
  readonly subject: string;
  /** What an operator runs: creates the stream and its consumer, or repairs them. */
  readonly setUp: () => Promise<string[]>;
};

export async function newStream(server?: { readonly url: string }): Promise<TestStream & AsyncDisposable> {
  const { url, prefix, stream: name } = await testNats();
  const broker = await connectNats({ url: server?.url ?? url, name: prefix, log });
  const consumers = [{ name: READER, subject: `${prefix}.moved.*` }];
  const stream = { name, subjects: [`${prefix}.>`], maxBytes: 10_000_000, consumers };
  return {
    broker,
    stream,
    subject: `${prefix}.moved.7`,
    setUp: () => setUpStreams(broker, [stream], { replicas: 1 }),
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  };
}

/** Forwards entries of a feed by their numbers. */
export function forwarding({ broker, subject }: TestStream): (...numbers: number[]) => Promise<void> {
  const forward = jetStreamPublisher(broker);
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
