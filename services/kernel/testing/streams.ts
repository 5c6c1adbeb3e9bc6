import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { testNats } from "#test/support/nats.ts";
import { silent as log } from "./calls.ts";
import { feedHeaders } from "../feed/headers.ts";
import { type Broker, connectNats } from "../nats/connect.ts";
import { jetStreamPublisher } from "../nats/publisher.ts";
import type { StreamDefinition } from "../nats/streams.ts";

const FEED = "test.things";
export const WITHIN = { timeout: 15_000, interval: 25 };

export type Place = { readonly broker: Broker; readonly stream: StreamDefinition; readonly subject: string };

export async function place(own?: { readonly url: string }): Promise<Place & AsyncDisposable> {
  const { url, prefix, stream: name } = await testNats();
  const broker = await connectNats({ url: own?.url ?? url, name: prefix, log });
  const stream = { name, subjects: [`${prefix}.>`], maxBytes: 10_000_000, replicas: 1 };
  return { broker, stream, subject: `${prefix}.moved.7`, [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose]() };
}

export function entry(number: number): FeedEntry & { feed: string } {
  return {
    feed: FEED,
    number: BigInt(number),
    id: BigInt(number * 10),
    type: "test.Thing",
    payload: Buffer.from([number]),
    toldAt: new Date(1_700_000_000_000 + number),
    requestId: `r${number}`,
  };
}

export function publishing({ broker, stream, subject }: Place): (...numbers: number[]) => Promise<void> {
  const publish = jetStreamPublisher(broker, [stream]);
  return async (...numbers) => {
    const told = numbers.map(entry).map((one) => publish(subject, one.payload, feedHeaders("test", one)));
    await Promise.all(told);
  };
}
