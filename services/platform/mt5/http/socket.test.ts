import { connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { createConnection } from "./connection.ts";
import { dial, type Wire } from "./socket.ts";
import { fingerprintOf, listen, selfSigned, startScriptedServer } from "../testing/scripted-server.ts";

const local = ({ port, ca }: { port: number; ca: string }) => ({
  host: "127.0.0.1",
  port,
  trust: { ca },
  dialTimeoutMs: 20_000,
});

test("after a timeout the raw socket is reset, so queued bytes are discarded and not sent later", async () => {
  const afterReset = await bytesReceivedLate(async (wire) => {
    const exchanged = await createConnection(wire, () => {}).exchange(LARGE_REQUEST, { timeoutMs: 200 });
    expect(exchanged).toEqual({ kind: "lost", reason: "timeout" });
    // The reset happens at once, also while the server does not read.
    await expect.poll(() => wire.tls.destroyed).toBe(true);
  });
  const afterDestroy = await bytesReceivedLate(async ({ tls }) => {
    tls.write(LARGE_REQUEST);
    await pause(200);
    tls.destroy();
  });
  // Bytes that had reached the server can be read there; the rest was still queued locally.
  expect(afterReset).toBeLessThan(afterDestroy / 2);
});

test("the server's certificate must be issued by the configured authority", async () => {
  await using server = await startScriptedServer();
  const other = await selfSigned();
  await expect(dial(local({ port: server.port, ca: other.cert }))).rejects.toMatchObject({ problem: "untrusted" });
  await expect(dial({ host: "127.0.0.1", port: server.port, trust: {}, dialTimeoutMs: 20_000 })).rejects.toMatchObject({
    problem: "untrusted",
  });
});

test("the server's certificate must be for the requested host", async () => {
  await using server = await startScriptedServer();
  await expect(dial({ ...local(server), host: "localhost" })).rejects.toThrow(/altnames/);
});

test("the certificate may be for another name than the host of the URL, if that name is set", async () => {
  await using server = await startScriptedServer();
  const trust = { ca: server.ca, name: "127.0.0.1" };
  (await dial({ ...local(server), host: "localhost", trust })).reset();
  await expect(dial({ ...local(server), trust: { ca: server.ca, name: "mt5.example" } })).rejects.toThrow(/altnames/);
});

test("a pinned certificate is accepted from every host and issuer, and no other one", async () => {
  await using server = await startScriptedServer();
  const fingerprint = fingerprintOf(server.ca);
  const other = fingerprintOf((await selfSigned()).cert);
  (await dial({ ...local(server), host: "localhost", trust: { fingerprint } })).reset();
  await expect(dial({ ...local(server), trust: { fingerprint: other } })).rejects.toMatchObject({
    problem: "untrusted",
    message: expect.stringContaining(fingerprint) as string,
  });
});

test("the server receives the requested host name, and no name for an address", async () => {
  const { cert, private: key } = await selfSigned();
  const names: (string | false | null)[] = [];
  const server = createTlsServer({ cert, key }, (socket) => names.push(socket.servername));
  const port = await listen(server);
  for (const host of ["localhost", "127.0.0.1"]) {
    const before = names.length;
    const wire = await dial({ host, port, trust: { fingerprint: fingerprintOf(cert) }, dialTimeoutMs: 20_000 });
    await expect.poll(() => names.length).toBe(before + 1);
    wire.reset();
  }
  expect(names).toEqual(["localhost", false]);
  server.close();
});

test("dialling a server that accepts and stays silent ends with a timeout", async () => {
  let wasReset = false;
  const silent = createServer((socket) => socket.on("error", () => (wasReset = true)));
  const port = await listen(silent);
  await expect(dial({ host: "127.0.0.1", port, trust: {}, dialTimeoutMs: 100 })).rejects.toThrow("timed out");
  await expect.poll(() => wasReset).toBe(true);
  silent.close();
});

test("a refused connection and a cancelled dial are Mt5Errors", async () => {
  await expect(dial({ host: "127.0.0.1", port: 1, trust: {}, dialTimeoutMs: 20_000 })).rejects.toMatchObject({
    problem: "unreachable",
  });
  const abort = new AbortController();
  abort.abort();
  await using server = await startScriptedServer();
  await expect(dial(local(server), abort.signal)).rejects.toMatchObject({ problem: "unreachable" });
});

/** Larger than the socket buffers of both sides. */
const LARGE_REQUEST = Buffer.alloc(64 * 1024 * 1024, "x");

/** The server stops reading, `send` ends the connection, and the server reads again: the bytes that it then receives. */
async function bytesReceivedLate(send: (wire: Wire) => Promise<void>): Promise<number> {
  await using server = await startScriptedServer();
  let late = 0;
  let isLate = false;
  let incoming: Socket | undefined;
  const ended = Promise.withResolvers<void>();
  const proxy = createServer((socket) => {
    incoming = socket;
    const outgoing = connect(server.port, "127.0.0.1");
    outgoing.on("error", () => {}).on("data", (bytes) => socket.write(bytes));
    socket.on("data", (bytes) => {
      if (isLate) late += bytes.length;
      else outgoing.write(bytes);
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      outgoing.destroy();
      ended.resolve();
    });
  });
  const wire = await dial(local({ ca: server.ca, port: await listen(proxy) }));
  incoming?.pause();
  isLate = true;
  await send(wire);
  incoming?.resume();
  await ended.promise;
  proxy.close();
  return late;
}
