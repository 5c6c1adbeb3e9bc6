import { spawn } from "node:child_process";
import { once } from "node:events";
import { AckPolicy, type ConsumerConfig, type StreamConfig } from "nats";
import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { provideNatsServer } from "../../../deploy/local/nats.ts";
import { freePort } from "../../../deploy/local/ports.ts";
import { silent } from "../testing/calls.ts";
import { connectNats } from "./connect.ts";
import { setUpStreams } from "./set-up-streams.ts";
import { jetStreamManager, requireStreams } from "./streams.ts";
import { newStream, READER, WITHIN } from "../testing/streams.ts";

test("the set-up makes a stream that keeps all messages for two weeks, and no client may delete from it", async () => {
  await using setup = await newStream();
  await setup.setUp();
  await setUpStreams(setup.broker, [{ ...setup.stream, maxBytes: 20_000_000 }], { replicas: 1 });

  const manager = await jetStreamManager(setup.broker);
  expect((await manager.streams.info(setup.stream.name)).config).toMatchObject({
    subjects: setup.stream.subjects,
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
  await expect(manager.streams.purge(setup.stream.name)).rejects.toThrow();
});

test("the set-up changes only what is different", async () => {
  await using at = await newStream();
  const actions: string[] = [];
  at.broker.connection.subscribe(`$JS.EVENT.ADVISORY.*.*.${at.stream.name}.>`, {
    callback: (_error, message) => void actions.push(`consumer ${message.json<{ action: string }>().action}`),
  });
  at.broker.connection.subscribe(`$JS.EVENT.ADVISORY.STREAM.*.${at.stream.name}`, {
    callback: (_error, message) => void actions.push(message.json<{ action: string }>().action),
  });

  await at.setUp();
  await at.setUp();
  await setUpStreams(at.broker, [{ ...at.stream, maxBytes: 20_000_000 }], { replicas: 1 });
  // The end of what is observed. A server that deletes a stream may lose the advisory of that.
  const end = { durable_name: "end", ack_policy: AckPolicy.Explicit };
  await (await jetStreamManager(at.broker)).consumers.add(at.stream.name, end);

  const created = () => actions.filter((action) => action === "consumer create");
  await waitFor(() => expect(created()).toHaveLength(2), WITHIN);
  expect(actions).toEqual(["create", "consumer create", "modify", "consumer create"]);
});

const STREAM_CHANGES: [string, (prefix: string) => Partial<StreamConfig>][] = [
  ["subjects is", (prefix) => ({ subjects: [`${prefix}.>`, `${prefix}-of-others.>`] })],
  ["republish is", (prefix) => ({ republish: { src: `${prefix}.>`, dest: `${prefix}-of-others.>` } })],
  ["allow_direct is", () => ({ allow_direct: true })],
];

test.each(STREAM_CHANGES)(
  "a service does not start when of its stream %s different, and starts after the set-up",
  async (difference, change) => {
    await using at = await newStream();
    const { name } = at.stream;
    const start = () => requireStreams(at.broker, [at.stream], READER);
    await at.setUp();
    await start();
    const manager = await jetStreamManager(at.broker);
    await manager.streams.update(name, change(at.subject.split(".")[0] ?? ""));

    const error = await start().catch(String);
    expect(error).toContain(`stream ${name} is different: ${difference}`);
    expect(error).toContain("run node deploy/nats/set-up-streams.ts with NATS_SETUP_URL");
    expect((await at.setUp())[0]).toBe(`stream ${name}: changed`);
    await start();
  },
);

test("a service starts with a stream of another size", async () => {
  await using at = await newStream();
  await at.setUp();
  await setUpStreams(at.broker, [{ ...at.stream, maxBytes: 20_000_000 }], { replicas: 1 });

  await expect(requireStreams(at.broker, [at.stream], READER)).resolves.toBeUndefined();
});

test("a stream that the broker does not change is reported with the difference", async () => {
  await using at = await newStream();
  const { name, subjects } = at.stream;
  await (await jetStreamManager(at.broker)).streams.add({ name, subjects: [...subjects], storage: "memory" } as never);

  await expect(at.setUp()).rejects.toThrow(
    /stream \w+ cannot be changed \(storage is "memory" instead of "file", .*delete it/,
  );
});

test("a service does not start without its stream, or without its own consumer", async () => {
  await using at = await newStream();
  const { name } = at.stream;
  const start = (service: string) => requireStreams(at.broker, [at.stream], service);

  await expect(start("writer")).rejects.toThrow(
    `stream ${name} does not exist; run node deploy/nats/set-up-streams.ts`,
  );
  await setUpStreams(at.broker, [{ ...at.stream, consumers: [] }], { replicas: 1 });
  await start("writer");
  await expect(start(READER)).rejects.toThrow(`consumer reader of stream ${name} does not exist; run node deploy/`);
});

const CONSUMERS: [string, Partial<ConsumerConfig>][] = [
  ["ack_wait is", { ack_wait: 1e9 }],
  ["ack_policy is", { ack_policy: AckPolicy.None }],
  // oxlint-disable-next-line typescript/no-deprecated -- what must not be set
  ["deliver_subject is", { deliver_subject: "of.others" }],
];

test.each(CONSUMERS)(
  "a consumer of which %s different is made by the set-up what its service needs",
  async (difference, config) => {
    await using at = await newStream();
    const { name, consumers } = at.stream;
    await setUpStreams(at.broker, [{ ...at.stream, consumers: [] }], { replicas: 1 });
    const manager = await jetStreamManager(at.broker);
    const [consumer] = consumers;
    const usual = { durable_name: READER, ack_policy: AckPolicy.Explicit, filter_subject: consumer!.subject };
    await manager.consumers.add(name, { ...usual, ...config });
    const start = () => requireStreams(at.broker, [at.stream], READER);

    const error = await start().catch(String);
    expect(error).toContain(`consumer reader of stream ${name} is different: `);
    expect(error).toContain(difference);
    expect((await at.setUp())[1]).toBe(`consumer reader of ${name}: changed`);
    await start();
  },
);

test("a broker without JetStream is reported in one line", async () => {
  const port = await freePort();
  const { path } = await provideNatsServer();
  const server = spawn(path, ["-a", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const url = `nats://127.0.0.1:${port}`;
  const broker = await waitFor(() => connectNats({ url, name: "test", log: silent }), WITHIN);
  const streams = [{ name: "X", subjects: ["x.>"], maxBytes: 1_000, consumers: [] }];
  const line = `NATS at ${url} has no JetStream: start nats-server with -js`;

  await expect(requireStreams(broker, streams, "test")).rejects.toThrow(line);
  await expect(setUpStreams(broker, streams, { replicas: 1 })).rejects.toThrow(line);
  await broker[Symbol.asyncDispose]();
  server.kill();
  await once(server, "exit");
});
