import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { provideNatsServer } from "../../../deploy/local/nats.ts";
import { freePort } from "../../../deploy/local/ports.ts";
import { silent } from "../testing/calls.ts";
import { connectNats } from "./connect.ts";
import { ensureStreams, jetStreamManager, requireStreams } from "./streams.ts";
import { newStream, WITHIN } from "../testing/streams.ts";

test("a stream keeps all messages for two weeks, and no client may delete from it", async () => {
  await using setup = await newStream();
  await ensureStreams(setup.broker, [setup.stream]);
  await ensureStreams(setup.broker, [{ ...setup.stream, maxBytes: 20_000_000 }]);

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

test("only a stream whose configuration differs is updated", async () => {
  await using at = await newStream();
  const actions: string[] = [];
  at.broker.connection.subscribe(`$JS.EVENT.ADVISORY.STREAM.*.${at.stream.name}`, {
    callback: (_error, message) => void actions.push(message.json<{ action: string }>().action),
  });

  await ensureStreams(at.broker, [at.stream]);
  await ensureStreams(at.broker, [at.stream]);
  await ensureStreams(at.broker, [{ ...at.stream, maxBytes: 20_000_000 }]);
  await (await jetStreamManager(at.broker)).streams.delete(at.stream.name);

  await waitFor(() => expect(actions.at(-1)).toBe("delete"), WITHIN);
  expect(actions).toEqual(["create", "modify", "delete"]);
});

test("a broker without JetStream is reported in one line", async () => {
  const port = await freePort();
  const { path } = await provideNatsServer();
  const server = spawn(path, ["-a", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const url = `nats://127.0.0.1:${port}`;
  const broker = await waitFor(() => connectNats({ url, name: "test", log: silent }), WITHIN);

  await expect(
    requireStreams(broker, [{ name: "X", subjects: ["x.>"], maxBytes: 1_000, replicas: 1 }]),
  ).rejects.toThrow(`NATS at ${url} has no JetStream: start nats-server with -js`);
  await broker[Symbol.asyncDispose]();
  server.kill();
  await once(server, "exit");
});
