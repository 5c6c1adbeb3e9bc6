import { createServer } from "node:net";
import { expect, test } from "vitest";
import { createConnection } from "./connection.ts";
import { dial } from "./socket.ts";
import { listen, selfSigned, startScriptedServer } from "./testing/scripted-server.ts";

const local = (server: { port: number; ca: string }) => ({ host: "127.0.0.1", ...server, dialTimeoutMs: 500 });

test("after a time-out nothing that was queued leaves any more: the raw socket is reset", async () => {
  await using server = await startScriptedServer();
  const wire = await dial(local(server));
  await expect.poll(() => server.lines.length).toBe(1);
  const line = server.lines[0]!;
  // The server stops reading, so most of this stays in our process and in our kernel.
  line.tls.pause();
  line.raw.pause();
  const size = 32 * 1024 * 1024;
  const connection = createConnection(wire, () => {});
  const exchanged = await connection.exchange(Buffer.alloc(size, "x"), { timeoutMs: 200 });
  expect(exchanged).toEqual({ kind: "lost", reason: "timeout" });
  line.tls.resume();
  line.raw.resume();
  await expect.poll(() => line.isOpen).toBe(false);
  expect(line.wasReset).toBe(true);
  expect(line.bytesReceived).toBeLessThan(size / 2);
});

test("the server's certificate must come from the authority that was pinned", async () => {
  await using server = await startScriptedServer();
  const stranger = await selfSigned();
  await expect(dial(local({ port: server.port, ca: stranger.cert }))).rejects.toMatchObject({ problem: "unreachable" });
  await expect(dial({ host: "127.0.0.1", port: server.port, dialTimeoutMs: 500 })).rejects.toMatchObject({
    problem: "unreachable",
  });
});

test("it must be a certificate for the host that was asked", async () => {
  await using server = await startScriptedServer();
  await expect(dial({ ...local(server), host: "localhost" })).rejects.toThrow(/altnames/);
});

test("any certificate is taken only when that was said explicitly", async () => {
  await using server = await startScriptedServer();
  const wire = await dial({ host: "127.0.0.1", port: server.port, insecure: true, dialTimeoutMs: 500 });
  wire.reset();
});

test("a server that accepts and then says nothing is given up in time", async () => {
  let wasReset = false;
  const silent = createServer((socket) => socket.on("error", () => (wasReset = true)));
  const port = await listen(silent);
  await expect(dial({ host: "127.0.0.1", port, dialTimeoutMs: 100 })).rejects.toThrow("timed out");
  await expect.poll(() => wasReset).toBe(true);
  silent.close();
});

test("nobody listening, and giving up on request, are errors and not faults", async () => {
  await expect(dial({ host: "127.0.0.1", port: 1, dialTimeoutMs: 500 })).rejects.toMatchObject({
    problem: "unreachable",
  });
  const abort = new AbortController();
  abort.abort();
  await using server = await startScriptedServer();
  await expect(dial(local(server), abort.signal)).rejects.toMatchObject({ problem: "unreachable" });
});
