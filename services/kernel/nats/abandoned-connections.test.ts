import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { Events, type NatsConnection } from "nats";
import { expect, test } from "vitest";
import { testNats } from "#test/support/nats.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { createLog } from "../log.ts";
import { connectNats } from "./connect.ts";

const log = createLog({ service: "test", level: "silent" });
const INFO = 'INFO {"server_id":"late","version":"2.10.27","proto":1,"headers":true,"max_payload":1048576}\r\n';

async function untilReconnected(connection: NatsConnection): Promise<void> {
  for await (const { type } of connection.status()) if (type === Events.Reconnect) return;
}

test("a node that answers after its caller has connected elsewhere does not add a connection", async () => {
  const { url, connection, prefix } = await testNats();
  const late: Socket[] = [];
  await using stack = new AsyncDisposableStack();
  const node = stack.use(createServer((socket) => late.push(socket)).listen(0, "127.0.0.1"));
  // A server that closes waits for its connections.
  stack.defer(() => late.forEach((socket) => socket.destroy()));
  await once(node, "listening");
  const urls = `nats://127.0.0.1:${(node.address() as AddressInfo).port},${url}`;
  await using broker = await connectNats({ url: urls, name: "test", log, connectWithinMs: 200 });
  const reconnected = untilReconnected(broker.connection);
  await broker.connection.reconnect();
  await reconnected;
  // Of the two nodes, the first attempt or this one began with the late one.
  expect(late.length).toBeGreaterThan(0);
  await waitFor(() => expect(broker.isConnected()).toBe(true));
  const received: string[] = [];
  broker.connection.subscribe(prefix, { callback: (_error, message) => received.push(message.string()) });
  await broker.connection.flush();

  const ended = late.map((socket) => once(socket, "close"));
  for (const socket of late) socket.end(INFO);
  await Promise.all(ended);
  // A connection that was added by now would receive the messages, too.
  for (const text of ["1", "2", "3"]) {
    await broker.connection.flush();
    connection.publish(prefix, text);
    await connection.flush();
  }
  await waitFor(() => expect(received).toContain("3"));
  expect(received).toEqual(["1", "2", "3"]);
  expect(broker.isConnected()).toBe(true);
});
