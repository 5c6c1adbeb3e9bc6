import { spawn } from "node:child_process";
import { once } from "node:events";
import { AckPolicy, RetentionPolicy } from "nats";
import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { provideNatsServer } from "../../../deploy/local/nats.ts";
import { freePort } from "../../../deploy/local/ports.ts";
import { silent } from "../testing/calls.ts";
import { connectNats } from "./connect.ts";
import { setUpStreams } from "../../../deploy/nats/streams.ts";
import { consumerConfig, differencesOf, streamConfig } from "./stream-config.ts";
import { jetStreamManager, requireStreams } from "./streams.ts";
import { newStream, READER, WITHIN } from "../testing/streams.ts";

const tries = { max: 2, pauseMs: 10 };
const ONE_COPY = { replicas: 1, tries };
const NEXT_STEP = "run node deploy/nats/set-up-streams.ts with NATS_SETUP_URL";

test("the set-up makes a stream that keeps all messages for two weeks, and changes only what is different", async () => {
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
  await setUpStreams(at.broker, [{ ...at.stream, maxBytes: 20_000_000 }], ONE_COPY);
  // The end of what is observed. A server that deletes a stream may lose the advisory of that.
  const manager = await jetStreamManager(at.broker);
  await manager.consumers.add(at.stream.name, { durable_name: "end", ack_policy: AckPolicy.Explicit });

  const created = () => actions.filter((action) => action === "consumer create");
  await waitFor(() => expect(created()).toHaveLength(2), WITHIN);
  expect(actions).toEqual(["create", "consumer create", "modify", "consumer create"]);
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
  // Its size is the choice of an operator.
  await expect(requireStreams(at.broker, [at.stream], READER, tries)).resolves.toBeUndefined();
});

test("a service starts with its stream and its own consumer as it needs them only, and says what is different and what to do", async () => {
  await using at = await newStream();
  const { name, subjects, consumers } = at.stream;
  const manager = await jetStreamManager(at.broker);
  const start = (service = READER) => requireStreams(at.broker, [at.stream], service, tries);
  const expectRefused = (problem: string) => expect(start()).rejects.toThrow(`${problem}; ${NEXT_STEP}`);

  await expectRefused(`stream ${name} does not exist`);
  await setUpStreams(at.broker, [{ ...at.stream, consumers: [] }], ONE_COPY);
  await start("writer");
  await expectRefused(`consumer reader of stream ${name} does not exist`);

  const [consumer] = consumers;
  const other = { durable_name: READER, ack_policy: AckPolicy.None, filter_subject: consumer!.subject };
  await manager.consumers.add(name, other);
  await expect(start()).rejects.toThrow(`consumer reader of stream ${name} is different: ack_policy is "none"`);
  expect((await at.setUp())[1]).toBe(`consumer reader of ${name}: changed`);
  await start();

  await manager.streams.update(name, { subjects: [...subjects, `${name}-of-others.>`] });
  await expect(start()).rejects.toThrow(`stream ${name} is different: subjects is`);
  expect((await at.setUp())[0]).toBe(`stream ${name}: changed`);
  await start();
});

test("what makes the broker send on other subjects, or lose messages, is a difference", () => {
  const stream = streamConfig({ name: "S", subjects: ["s.>"] } as never) as object;
  const consumer = consumerConfig({ name: READER, subject: "s.>" }) as object;
  const namesOf = (wanted: object, change: object) =>
    differencesOf({ ...wanted, ...change }, wanted).map((difference) => difference.split(" ", 1)[0]);
  const copied = { republish: { src: "s.>", dest: "t.>" }, sources: [{ name: "T" }], mirror: { name: "T" } };

  expect(namesOf(stream, copied)).toEqual(["republish", "sources", "mirror"]);
  const others = { retention: RetentionPolicy.Workqueue, allow_direct: true };
  expect(namesOf(stream, others)).toEqual(["retention", "allow_direct"]);
  expect(namesOf(consumer, { ack_wait: 1e9, deliver_subject: "t" })).toEqual(["ack_wait", "deliver_subject"]);
  expect(namesOf(stream, { sources: [], mirror: null, no_ack: false })).toEqual([]);
});

test("a stream that the broker does not change is reported with the difference", async () => {
  await using at = await newStream();
  const { name, subjects } = at.stream;
  await (await jetStreamManager(at.broker)).streams.add({ name, subjects: [...subjects], storage: "memory" } as never);

  await expect(setUpStreams(at.broker, [at.stream], ONE_COPY)).rejects.toThrow(
    /stream \w+ cannot be changed \(storage is "memory" instead of "file", .*delete it/,
  );
});

test("a broker without JetStream is reported in one line", async () => {
  const port = await freePort();
  const { path } = await provideNatsServer();
  const server = spawn(path, ["-a", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const url = `nats://127.0.0.1:${port}`;
  const broker = await waitFor(() => connectNats({ url, name: "test", log: silent }), WITHIN);
  const streams = [{ name: "X", subjects: ["x.>"], maxBytes: 1_000, consumers: [] }];
  const line = `NATS at ${url} has no JetStream: start nats-server with -js`;

  await expect(requireStreams(broker, streams, "test", tries)).rejects.toThrow(line);
  await expect(setUpStreams(broker, streams, ONE_COPY)).rejects.toThrow(line);
  await broker[Symbol.asyncDispose]();
  server.kill();
  await once(server, "exit");
});
