import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { startOwnNats } from "#test/support/nats.ts";
import type { LogFields } from "../process/log.ts";
import { silent as log } from "../testing/calls.ts";
import { pullWakeUps } from "./pull.ts";
import { jetStreamManager } from "./streams.ts";
import { forwarding, newStream, READER, type TestStream, WITHIN } from "../testing/streams.ts";

/** A reader that records the number of each wake-up and its log lines. */
function startReader({ broker, stream }: TestStream) {
  const woken: bigint[] = [];
  const lines: string[] = [];
  const recordingLog = { ...log, info: (line: string) => void lines.push(line) };
  const catchUp = async (lastNumber: bigint): Promise<void> => {
    await sleep(1);
    woken.push(lastNumber);
  };
  const options = { stream: stream.name, consumer: READER, catchUp, log: recordingLog };
  const pull = pullWakeUps(broker, options);
  return { woken, lines, [Symbol.asyncDispose]: () => pull[Symbol.asyncDispose]() };
}

async function pending({ broker, stream }: TestStream): Promise<{ unacked: number; unread: number }> {
  const info = await (await jetStreamManager(broker)).consumers.info(stream.name, READER);
  return { unacked: info.num_ack_pending, unread: info.num_pending };
}

test("every waiting message wakes the reader, and is acked", async () => {
  await using setup = await newStream();
  const forward = forwarding(setup);
  await setup.setUp();
  await forward(...Array.from({ length: 1_200 }, (_, index) => index + 1));

  await using reader = startReader(setup);

  await waitFor(() => expect(reader.woken.at(-1)).toBe(1_200n), WITHIN);
  expect(reader.woken).toEqual(Array.from({ length: 1_200 }, (_, index) => BigInt(index + 1)));
  await waitFor(async () => expect(await pending(setup)).toEqual({ unacked: 0, unread: 0 }), WITHIN);
});

test("while a feed cannot be read its messages are delivered again, each pause is longer, also when another message arrives", async () => {
  await using setup = await newStream();
  await using stack = new AsyncDisposableStack();
  const forward = forwarding(setup);
  await setup.setUp();
  const attempts: number[] = [];
  const delays: unknown[] = [];
  const catchUp = async (): Promise<void> => {
    attempts.push(performance.now());
    if (attempts.length <= 3) throw new Error("the database is unreachable");
  };
  const recordingLog = {
    ...log,
    error: (_message: string, fields?: LogFields) => void delays.push(fields?.retry_in_ms),
  };
  stack.use(
    pullWakeUps(setup.broker, {
      stream: setup.stream.name,
      consumer: READER,
      catchUp,
      log: recordingLog,
    }),
  );

  await forward(1);
  await waitFor(() => expect(attempts).toHaveLength(1), { interval: 5 });
  await forward(2);
  await waitFor(async () => expect(await pending(setup)).toEqual({ unacked: 0, unread: 0 }), WITHIN);

  expect(delays).toEqual([250, 500, 1_000]);
  const pauses = [1, 2, 3].map((index) => attempts[index]! - attempts[index - 1]!);
  for (const [index, atLeast] of [240, 490, 990].entries()) expect(pauses[index]).toBeGreaterThan(atLeast);
});

test("a message without a number of a feed is acked and has no other effect", async () => {
  await using setup = await newStream();
  const forward = forwarding(setup);
  await setup.setUp();
  await setup.broker.connection.jetstream().publish(setup.subject, "junk");
  await using reader = startReader(setup);

  await forward(1);

  await waitFor(() => expect(reader.woken.filter((number) => number > 0n)).toEqual([1n]), WITHIN);
  await waitFor(async () => expect(await pending(setup)).toEqual({ unacked: 0, unread: 0 }), WITHIN);
});

test("once a deleted consumer or stream is set up again, messages wake the reader without a restart", async () => {
  await using setup = await newStream();
  const forward = forwarding(setup);
  await setup.setUp();
  await using reader = startReader(setup);
  await forward(1);
  await waitFor(() => expect(reader.woken).toEqual([1n]), WITHIN);
  const manager = await jetStreamManager(setup.broker);

  await manager.consumers.delete(setup.stream.name, READER);
  await waitFor(() => expect(reader.lines).toContain("consumer lost, retry scheduled"), WITHIN);
  await forward(2);
  expect(await setup.setUp()).toEqual([
    `stream ${setup.stream.name}: nothing to do`,
    `consumer reader of ${setup.stream.name}: created`,
  ]);
  await waitFor(() => expect(reader.woken).toContain(2n), WITHIN);
  expect(reader.lines).toEqual(["consumer lost, retry scheduled", "consumer opened again"]);

  await manager.streams.delete(setup.stream.name);
  await expect(forward(3)).rejects.toThrow(
    `no stream stores ${setup.subject}; if this lasts, run node deploy/nats/set-up-streams.ts`,
  );
  await setup.setUp();
  await forward(3);
  await waitFor(() => expect(reader.woken).toContain(3n), WITHIN);
});

test("after a restart of the broker without its data, and its set-up, messages are received again", async () => {
  await using broker = await startOwnNats();
  await using setup = await newStream(broker);
  const forward = forwarding(setup);
  await setup.setUp();
  await using reader = startReader(setup);
  await forward(1);
  await waitFor(() => expect(reader.woken).toEqual([1n]), WITHIN);

  await broker.kill();
  await waitFor(() => expect(setup.broker.isConnected()).toBe(false));
  await expect(forward(2)).rejects.toThrow("not connected");
  await broker.restart({ wipe: true });
  await waitFor(() => setup.setUp(), WITHIN);

  await waitFor(() => forward(2), WITHIN);
  await waitFor(() => expect(reader.woken).toContain(2n), WITHIN);
});
