import { once } from "node:events";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "selfsigned";
import { Events, type NatsConnection } from "nats";
import { expect, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { testNats } from "#test/support/nats.ts";
import { startNats } from "../../../deploy/local/nats.ts";
import { createLog } from "../process/log.ts";
import { connectNats } from "./connect.ts";

const log = createLog({ service: "test", level: "silent" });
/** What a broker sends first. */
const INFO = 'INFO {"server_id":"late","version":"2.10.27","proto":1,"headers":true,"max_payload":1048576}\r\n';

async function untilReconnected(connection: NatsConnection): Promise<void> {
  for await (const { type } of connection.status()) if (type === Events.Reconnect) return;
}

test("a broker that cannot be reached is reported in one line without credentials", async () => {
  const url = "nats://planted:secret@127.0.0.1:1";

  await expect(connectNats({ url, name: "test", log })).rejects.toThrow(
    "NATS at nats://127.0.0.1:1 cannot be reached (CONNECTION_REFUSED): start nats-server -js or set NATS_URL",
  );
});

test("a connection that ends before the service closes it is reported", async () => {
  const { url } = await testNats();
  const watched = await connectNats({ url, name: "test", log });
  const closed = await connectNats({ url, name: "test", log });

  await watched.connection.close();
  await closed[Symbol.asyncDispose]();

  await expect(watched.closed).rejects.toThrow("the connection to the broker was closed");
  await expect(closed.closed).resolves.toBeUndefined();
  expect(watched.isConnected()).toBe(false);
});

test("a loss that may be the end of an attempt that was given up ends the process, and no other loss does", async () => {
  const { url } = await testNats();
  const late: Socket[] = [];
  await using stack = new AsyncDisposableStack();
  const node = stack.use(createServer((socket) => late.push(socket)).listen(0, "127.0.0.1"));
  // A server that closes waits for its connections.
  stack.defer(() => late.forEach((socket) => socket.destroy()));
  await once(node, "listening");
  const urls = `nats://127.0.0.1:${(node.address() as AddressInfo).port},${url}`;
  await using broker = await connectNats({ url: urls, name: "test", log, connectWithinMs: 200 });
  // The library begins with either address.
  if (late.length === 0) {
    const reconnected = untilReconnected(broker.connection);
    await broker.connection.reconnect();
    await reconnected;
  }
  expect(late.length).toBeGreaterThan(0);
  // Its attempts have time: one that is slow on a busy machine is none that was given up.
  await using other = await connectNats({ url, name: "test", log });
  const again = untilReconnected(other.connection);
  await other.connection.reconnect();
  await again;
  expect([broker.isConnected(), other.isConnected()]).toEqual([true, true]);

  for (const socket of late) socket.end(INFO);

  await expect(broker.closed).rejects.toThrow("the connection to the broker was closed");
  expect(other.isConnected()).toBe(true);
});

test("tls: is TLS or an error: a broker without it receives neither user nor password", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-"));
  await using server = await startNats({ dir: folder.path });
  const received = await recorded(server.port, async (port) => {
    await expect(connectNats({ url: `tls://planted:secret@localhost:${port}`, name: "test", log })).rejects.toThrow(
      `NATS at tls://localhost:${port} offers no TLS: nothing was sent to it`,
    );
  });
  expect(received).toBe("");
});

test("user and password of the URL are used; the broker's certificate has to be issued by the given authority, for the name in the address", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-"));
  const [own, other] = [await certificate(folder.path, "own"), await certificate(folder.path, "other")];
  await using server = await startNats({ dir: folder.path, password: "p@ss/word", tls: own });
  const at = (host: string, password = "p%40ss%2Fword"): string => `tls://operator:${password}@${host}:${server.port}`;

  await using broker = await connectNats({ url: at("localhost"), ca: own.cert, name: "test", log });
  expect(broker.isConnected()).toBe(true);
  await expect(connectNats({ url: at("localhost", "wrong"), ca: own.cert, name: "test", log })).rejects.toThrow(
    `NATS at tls://localhost:${server.port} refuses the login: put user and password into NATS_URL`,
  );
  for (const [host, ca] of [
    ["localhost", other.cert],
    ["localhost", undefined],
  ] as const) {
    await expect(connectNats({ url: at(host), ca, name: "test", log })).rejects.toThrow(
      new RegExp(`^NATS at tls://${host}:${server.port} has no trusted certificate \\(.*\\): check NATS_CA_FILE$`),
    );
  }
});

test("a subject that the broker refuses is counted", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-"));
  await using server = await startNats({
    dir: folder.path,
    password: "secret",
    passwordOf: (service) => `of-${service}`,
  });
  await using broker = await connectNats({ url: `nats://fee:of-fee@127.0.0.1:${server.port}`, name: "fee", log });

  // The metrics are of the process: other tests may have counted before, and the two refusals come in any order.
  const before = await refusals();

  broker.connection.publish("pamm.v1.account.RevealInvestor");
  broker.connection.subscribe("_INBOX.edge.>", { callback: () => undefined });

  await expect.poll(refusals).toEqual({ publish: before.publish + 1, subscription: before.subscription + 1 });
});

test.each([
  ["tls://a:1,nats://b:2", undefined, "NATS_URL mixes tls: and nats: addresses: use tls: for all of them"],
  ["nats://a:1", "PEM", "NATS_CA_FILE is set, but NATS_URL begins with nats: instead of tls:"],
])("%s with the authority %s is refused", async (url, ca, message) => {
  await expect(connectNats({ url, ca, name: "test", log })).rejects.toThrow(message);
});

async function refusals(): Promise<{ publish: number; subscription: number }> {
  return { publish: 0, subscription: 0, ...(await metricValues("pamm_broker_refusals_total")) };
}

/** What a client sends to the broker at this port through the port that `connect` gets. */
async function recorded(target: number, connectThrough: (port: number) => Promise<void>): Promise<string> {
  let received = "";
  const proxy = createServer((socket) => {
    const broker = connect(target, "127.0.0.1");
    socket.on("data", (bytes) => (received += bytes.toString("latin1"))).on("error", () => {});
    broker.on("error", () => {});
    socket.pipe(broker).pipe(socket);
  });
  proxy.listen(0, "localhost");
  await once(proxy, "listening");
  await connectThrough((proxy.address() as AddressInfo).port);
  proxy.close();
  return received;
}

async function certificate(folder: string, name: string) {
  const { private: key, cert } = await generate([{ name: "commonName", value: name }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
  });
  const [certFile, keyFile] = [join(folder, `${name}.pem`), join(folder, `${name}-key.pem`)];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return { cert, certFile, keyFile };
}
