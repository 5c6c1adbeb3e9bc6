import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { startOwnNats, testNats } from "#test/support/nats.ts";
import { provideNatsServer } from "../../../deploy/local/nats.ts";
import { freePort } from "../../../deploy/local/ports.ts";
import { feedHeaders } from "../feed/headers.ts";
import { createLog } from "../log.ts";
import { type Broker, connectNats } from "./connect.ts";
import { feedNudger, onNudge } from "./nudge.ts";
import { jetStreamPublisher } from "./publisher.ts";
import { pullEntries } from "./pull.ts";
import { ensureStreams, jetStreamManager, requireStreams, type StreamDefinition } from "./streams.ts";

const log = createLog({ service: "test", level: "silent" });
const FEED = "test.things";
const WITHIN = { timeout: 15_000, interval: 25 };

type Place = { readonly broker: Broker; readonly stream: StreamDefinition; readonly subject: string };

async function place(own?: { readonly url: string }): Promise<Place & AsyncDisposable> {
  const { url, prefix, stream: name } = await testNats();
  const broker = await connectNats({ url: own?.url ?? url, name: prefix, log });
  const stream = { name, subjects: [`${prefix}.>`], maxBytes: 10_000_000, replicas: 1 };
  return { broker, stream, subject: `${prefix}.moved.7`, [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose]() };
}

function entry(number: number): FeedEntry & { feed: string } {
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

function publishing({ broker, stream, subject }: Place): (...numbers: number[]) => Promise<void> {
  const publish = jetStreamPublisher(broker, [stream]);
  return async (...numbers) => {
    const told = numbers.map(entry).map((one) => publish(subject, one.payload, feedHeaders("test", one)));
    await Promise.all(told);
  };
}

/** A consumer that notes what it is given and can be told to fail. */
function consuming({ broker, stream, subject }: Place) {
  const filed: bigint[] = [];
  const state = { failures: 0, batches: [] as number[], entries: [] as FeedEntry[] };
  const deliver = async (entries: readonly FeedEntry[]): Promise<void> => {
    if (state.failures > 0) {
      state.failures -= 1;
      throw new Error("the database is away");
    }
    await sleep(1);
    state.batches.push(entries.length);
    state.entries.push(...entries);
    filed.push(...entries.map(({ number }) => number));
  };
  const pull = pullEntries(broker, { stream, consumer: "reader", subject: subject.replace(".7", ".*"), deliver, log });
  return { filed, state, [Symbol.asyncDispose]: () => pull[Symbol.asyncDispose]() };
}

async function pending({ broker, stream }: Place): Promise<{ unacked: number; unread: number }> {
  const info = await (await jetStreamManager(broker)).consumers.info(stream.name, "reader");
  return { unacked: info.num_ack_pending, unread: info.num_pending };
}

test("a stream keeps everything for two weeks and nobody may delete from it", async () => {
  await using at = await place();
  await ensureStreams(at.broker, [at.stream]);
  await ensureStreams(at.broker, [{ ...at.stream, maxBytes: 20_000_000 }]);

  const manager = await jetStreamManager(at.broker);
  expect((await manager.streams.info(at.stream.name)).config).toMatchObject({
    subjects: at.stream.subjects,
    storage: "file",
    retention: "limits",
    discard: "new",
    max_age: 14 * 86_400 * 1e9,
    max_bytes: 20_000_000,
    max_msg_size: 65_536,
    duplicate_window: 300 * 1e9,
    num_replicas: 1,
    deny_delete: true,
    deny_purge: true,
  });
  await expect(manager.streams.purge(at.stream.name)).rejects.toThrow();
});

test("entries arrive whole and in order, and are acked once they are filed", async () => {
  await using at = await place();
  const publish = publishing(at);
  await ensureStreams(at.broker, [at.stream]);
  await using consumer = consuming(at);

  await publish(1, 2, 3);

  await vi.waitFor(() => expect(consumer.filed).toEqual([1n, 2n, 3n]), WITHIN);
  const { feed: _, ...first } = entry(1);
  expect(consumer.state.entries[0]).toEqual(first);
  await vi.waitFor(async () => expect(await pending(at)).toEqual({ unacked: 0, unread: 0 }), WITHIN);
});

test("a batch is what arrived meanwhile, five hundred at most", async () => {
  await using at = await place();
  const publish = publishing(at);
  await ensureStreams(at.broker, [at.stream]);
  await publish(...Array.from({ length: 1_200 }, (_, index) => index + 1));

  await using consumer = consuming(at);

  await vi.waitFor(() => expect(consumer.filed).toHaveLength(1_200), WITHIN);
  expect(consumer.filed).toEqual(Array.from({ length: 1_200 }, (_, index) => BigInt(index + 1)));
  expect(Math.max(...consumer.state.batches)).toBeLessThanOrEqual(500);
  expect(consumer.state.batches.length).toBeLessThan(100);
});

test("what could not be filed is delivered again", async () => {
  await using at = await place();
  const publish = publishing(at);
  await ensureStreams(at.broker, [at.stream]);
  await using consumer = consuming(at);
  consumer.state.failures = 2;

  await publish(1, 2);

  await vi.waitFor(() => expect(new Set(consumer.filed)).toEqual(new Set([1n, 2n])), WITHIN);
  await vi.waitFor(async () => expect(await pending(at)).toEqual({ unacked: 0, unread: 0 }), WITHIN);
});

test("a message that is no feed entry is dropped and stops nothing", async () => {
  await using at = await place();
  const publish = publishing(at);
  await ensureStreams(at.broker, [at.stream]);
  await at.broker.connection.jetstream().publish(at.subject, "junk");
  await using consumer = consuming(at);

  await publish(1);

  await vi.waitFor(() => expect(consumer.filed).toEqual([1n]), WITHIN);
  await vi.waitFor(async () => expect(await pending(at)).toEqual({ unacked: 0, unread: 0 }), WITHIN);
});

test("the same entry told twice is stored once, and a purged one is stored again", async () => {
  await using at = await place();
  const publish = publishing(at);
  const manager = await jetStreamManager(at.broker);
  // As ensureStreams would make it, but an operator can purge it.
  await manager.streams.add({ name: at.stream.name, subjects: [...at.stream.subjects] });
  const stored = async (): Promise<number> => (await manager.streams.info(at.stream.name)).state.messages;

  await publish(1);
  await publish(1);
  expect(await stored()).toBe(1);

  await manager.streams.purge(at.stream.name);
  await publish(1);
  expect(await stored()).toBe(1);
});

test("a stream or consumer that is deleted is made again, and nothing is missed that is told later", async () => {
  await using at = await place();
  const publish = publishing(at);
  await ensureStreams(at.broker, [at.stream]);
  await using consumer = consuming(at);
  await publish(1);
  await vi.waitFor(() => expect(consumer.filed).toEqual([1n]), WITHIN);
  const manager = await jetStreamManager(at.broker);

  await manager.consumers.delete(at.stream.name, "reader");
  await publish(2);
  await vi.waitFor(() => expect(consumer.filed).toContain(2n), WITHIN);

  await manager.streams.delete(at.stream.name);
  await publish(3);
  await vi.waitFor(() => expect(consumer.filed).toContain(3n), WITHIN);
});

test("a broker that comes back with an empty directory costs time only", async () => {
  await using broker = await startOwnNats();
  await using at = await place(broker);
  const publish = publishing(at);
  await ensureStreams(at.broker, [at.stream]);
  await using consumer = consuming(at);
  await publish(1);
  await vi.waitFor(() => expect(consumer.filed).toEqual([1n]), WITHIN);

  await broker.kill();
  await vi.waitFor(() => expect(at.broker.isConnected()).toBe(false));
  await expect(publish(2)).rejects.toThrow("not connected");
  await broker.restart({ wipe: true });

  await vi.waitFor(() => publish(2), WITHIN);
  await vi.waitFor(() => expect(consumer.filed).toContain(2n), WITHIN);
});

test("a broker without JetStream is one clear line", async () => {
  const port = await freePort();
  const { path } = await provideNatsServer();
  const server = spawn(path, ["-a", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const url = `nats://127.0.0.1:${port}`;
  const broker = await vi.waitFor(() => connectNats({ url, name: "test", log }), WITHIN);

  await expect(
    requireStreams(broker, [{ name: "X", subjects: ["x.>"], maxBytes: 1_000, replicas: 1 }]),
  ).rejects.toThrow(`NATS at ${url} has no JetStream: start nats-server with -js`);
  await broker[Symbol.asyncDispose]();
  server.kill();
  await once(server, "exit");
});

test("readers hear how far a feed is, and nobody hears of other feeds", async () => {
  await using at = await place();
  const { prefix } = await testNats();
  const heard: bigint[] = [];
  using _reader = onNudge(at.broker, `${prefix}.things`, (number) => void heard.push(number));
  const nudge = feedNudger(at.broker);

  nudge(`${prefix}.things`, 9_007_199_254_740_993n);
  nudge(`${prefix}.others`, 1n);

  await vi.waitFor(() => expect(heard).toEqual([9_007_199_254_740_993n]), WITHIN);
  await at.broker[Symbol.asyncDispose]();
  nudge(`${prefix}.things`, 2n);
});
