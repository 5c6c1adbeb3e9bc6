import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Random } from "../support/random.ts";
import { type Connection, FORBIDDEN, httpAnswer, reset, send } from "./connection.ts";

/** A way of delivering a correct answer, or of losing it. */
export type Delivery = (connection: Connection, body: string, random: Random) => unknown;
type Deliveries = Readonly<Record<string, Delivery>>;
type Written = (body: string, random: Random) => Buffer | string;

/** Below the time after which the service no longer waits for an answer. */
const SLOW_MS = 500;
const PAUSE_MS = 3;
const FLOOD_MS = 1_000;
/** Each piece is a TLS record; more of them test nothing else. */
const MAX_PIECES = 200;

/** The answer arrives complete and once: a client must accept it. */
export const RELIABLE: Deliveries = {
  "byte by byte": (connection, body) => inPieces(connection, httpAnswer(body), 1),
  "in pieces": (connection, body, random) => inPieces(connection, httpAnswer(body), 1 + random.below(40)),
  slowly: (connection, body, random) => later(random.below(SLOW_MS), () => send(connection, httpAnswer(body))),
  ...written({
    "at once": (body) => httpAnswer(body),
    chunked: (body, random) => chunked(body, random),
  }),
  ...writtenAndClosed({
    "as HTTP/1.0": (body) => httpAnswer(body).toString().replace("HTTP/1.1", "HTTP/1.0"),
    "and closed": (body) => httpAnswer(body, { headers: "Connection: close\r\n" }),
  }),
};

/** The answer is lost or unreliable. */
export const UNRELIABLE: Deliveries = {
  "connection reset": reset,
  "connection closed": ({ tls }) => tls.end(),
  silence: () => undefined,
  "delayed until the next answer": ({ delayed }, body) => delayed.push(httpAnswer(body)),
  "cut and reset"(connection, body, random) {
    send(connection, cut(body, random));
    later(PAUSE_MS, () => reset(connection));
  },
  "sent again later"(connection, body) {
    send(connection, httpAnswer(body));
    later(PAUSE_MS, () => send(connection, httpAnswer(body)));
  },
  "without an end": (connection) =>
    flood(connection, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", `10000\r\n${" ".repeat(0x10000)}\r\n`),
  "length of 1 GB": (connection) =>
    flood(connection, 'HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n{"retcode":"', "0".repeat(1 << 16)),
  "100 Continue without an end": (connection) => flood(connection, "", "HTTP/1.1 100 Continue\r\n\r\n", PAUSE_MS),
  "broken TLS"(connection, body) {
    const whole = httpAnswer(body);
    send(connection, whole.subarray(0, whole.length / 2));
    connection.raw.write("no record of TLS");
  },
  "session taken over"(connection) {
    // The next request opens a connection to the simulator without a signed-in manager.
    connection.simulator.destroy();
    send(connection, FORBIDDEN);
  },
  ...writtenAndClosed({
    "cut and closed": cut,
    "no length": (body) => `HTTP/1.1 200 OK\r\n\r\n${body}`,
  }),
  ...written({
    "sent twice": (body) => Buffer.concat([httpAnswer(body), httpAnswer(body)]),
    "page of a proxy": () =>
      httpAnswer("<html><body>3 Bad gateway</body></html>", { headers: "Content-Type: text/html\r\n" }),
    compressed: (body) => httpAnswer(gzipSync(body), { headers: "Content-Encoding: gzip\r\n" }),
    "in UTF-16": (body) => httpAnswer(Buffer.from(body, "utf16le")),
    "two lengths": (body) => httpAnswer(body, { headers: `Content-Length: ${body.length - 1}\r\n` }),
    "cut by its length": (body) => httpAnswer(body.slice(0, -2)),
    "after 100 Continue": (body) => `HTTP/1.1 100 Continue\r\n\r\n${httpAnswer(body).toString()}`,
    "with 500": (body) => httpAnswer(body, { status: "500 Oops" }),
    "with 503": () => httpAnswer('{"retcode":"3 Invalid parameters"}', { status: "503 Busy" }),
    "a long head": (body) => httpAnswer(body, { headers: `X-Padding: ${"x".repeat(100_000)}\r\n` }),
    "nested deep": () => httpAnswer(`{"retcode":"0 Done","answer":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
    redirected: () => httpAnswer("", { status: "302 Found", headers: "Location: /api/test/access\r\n" }),
    forbidden: () => FORBIDDEN,
  }),
};

function written(answers: Readonly<Record<string, Written>>): Deliveries {
  const all = Object.entries(answers).map(([name, bytes]): [string, Delivery] => {
    return [name, (connection, body, random) => send(connection, bytes(body, random))];
  });
  return Object.fromEntries(all);
}

function writtenAndClosed(answers: Readonly<Record<string, Written>>): Deliveries {
  const all = Object.entries(written(answers)).map(([name, deliver]): [string, Delivery] => {
    return [name, (connection, ...rest) => (deliver(connection, ...rest), connection.tls.end())];
  });
  return Object.fromEntries(all);
}

function later(ms: number, act: () => void): void {
  setTimeout(act, ms).unref();
}

function cut(body: string, random: Random): Buffer {
  const whole = httpAnswer(body);
  return whole.subarray(0, random.below(whole.length));
}

/** Writes for a second, or until the client closes the connection. */
async function flood(connection: Connection, head: string, piece: string, pauseMs = 0): Promise<void> {
  send(connection, head);
  for (const until = Date.now() + FLOOD_MS; connection.tls.writable && Date.now() < until;) {
    send(connection, piece);
    await sleep(pauseMs, undefined, { ref: false });
  }
}

async function inPieces(connection: Connection, bytes: Buffer, size: number): Promise<void> {
  for (let at = 0, length = size; at < bytes.length; at += length) {
    length = at < MAX_PIECES ? size : bytes.length;
    send(connection, bytes.subarray(at, at + length));
    await sleep(0);
  }
}

function chunked(body: string, random: Random): string {
  const parts: string[] = [];
  for (let at = 0; at < body.length; at += parts.at(-1)!.length) parts.push(body.slice(at, at + 1 + random.below(30)));
  const chunks = parts.map((part) => `${Buffer.byteLength(part).toString(16)};ext="a"\r\n${part}\r\n`);
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join("")}0\r\nTrailer: yes\r\n\r\n`;
}
