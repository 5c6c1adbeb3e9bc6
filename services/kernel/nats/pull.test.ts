import { setTimeout as sleep } from "node:timers/promises";
import { AckPolicy } from "nats";
import { expect, test, vi } from "vitest";
import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { startOwnNats } from "#test/support/nats.ts";
import { silent as log } from "../testing/calls.ts";
import { pullEntries } from "./pull.ts";
import { ensureStreams, jetStreamManager } from "./streams.ts";
import { entry, type Place, place, publishing, WITHIN } from "../testing/streams.ts";

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
  expect(consumer.state.batches.length).toBeLessThan(300);
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

test("a consumer of an older release is brought up to date and goes on where it was", async () => {
  await using at = await place();
  const publish = publishing(at);
  await ensureStreams(at.broker, [at.stream]);
  const manager = await jetStreamManager(at.broker);
  const filter_subject = at.subject.replace(".7", ".*");
  const older = { durable_name: "reader", filter_subject, ack_policy: AckPolicy.Explicit, ack_wait: 1e9 };
  await manager.consumers.add(at.stream.name, older);

  await using consumer = consuming(at);
  await publish(1);

  await vi.waitFor(() => expect(consumer.filed).toEqual([1n]), WITHIN);
  const { config } = await manager.consumers.info(at.stream.name, "reader");
  expect(config).toMatchObject({
    ack_wait: 30e9,
    max_ack_pending: 500,
    filter_subject: at.subject.replace(".7", ".*"),
  });
});
