import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type ReceivedRequest, type Script, startScriptedServer } from "./testing/scripted-server.ts";
import { aClient, APPLIED, sendOnce, USER } from "./testing/test-client.ts";

/** Ends the connection after this much of the answer, which names no length. */
function untilEnd({ connection }: ReceivedRequest, body: string): "nothing" {
  connection.tls.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${body}`);
  return "nothing";
}

function compressed({ connection }: ReceivedRequest, body: string): "nothing" {
  const packed = gzipSync(body);
  connection.tls.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`);
  connection.tls.write(packed);
  return "nothing";
}

const answering = (path: string, body: string, send: typeof untilEnd): Script => {
  return (request) => (request.path === path ? send(request, body) : undefined);
};

test("a ticket in an answer without a length is read, and the next command uses another session", async () => {
  await using server = await startScriptedServer(answering("trade/balance", APPLIED, untilEnd));
  using client = aClient(server);
  expect(await sendOnce(client)).toEqual({ kind: "applied", ticket: 136623n });
  server.script = answering("trade/balance", APPLIED.replace("136623", "136624"), untilEnd);
  expect(await sendOnce(client)).toEqual({ kind: "applied", ticket: 136624n });
  expect(server.connections).toHaveLength(2);
});

test("compressed answers to commands and reads are read", async () => {
  await using server = await startScriptedServer(answering("trade/balance", APPLIED, compressed));
  using client = aClient(server);
  expect(await sendOnce(client)).toEqual({ kind: "applied", ticket: 136623n });
  server.script = answering("user/get", USER, compressed);
  expect(await client.getUser("1")).toMatchObject({ login: "1", balanceMinor: 1_00n });
});
