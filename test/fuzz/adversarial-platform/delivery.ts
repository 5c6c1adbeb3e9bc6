import { gzipSync } from "node:zlib";
import type { Random } from "../support/random.ts";
import { FORBIDDEN, httpAnswer, type Connection, reset, send } from "./connection.ts";

/** A way of delivering a correct answer, or of losing it. */
export type Delivery = (line: Connection, body: string, random: Random) => void;

const SLOW_MS = 1_500;
const PAUSE_MS = 3;
const MAX_SINGLE_BYTES = 200;
const FLOOD_MS = 1_000;

/** The answer arrives complete and once: a client must understand it. */
export const UNDERSTANDABLE: Readonly<Record<string, Delivery>> = {
  "at once": (line, body) => send(line, httpAnswer(body)),
  "byte by byte": (line, body) => void inPieces(line, httpAnswer(body), 1),
  "in pieces": (line, body, random) => void inPieces(line, httpAnswer(body), 1 + random.below(40)),
  chunked: (line, body, random) => send(line, chunked(body, random)),
  slowly: (line, body, random) => later(random.below(SLOW_MS), () => send(line, httpAnswer(body))),
  "as HTTP/1.0": (line, body) => {
    send(line, Buffer.from(httpAnswer(body).toString("latin1").replace("HTTP/1.1", "HTTP/1.0"), "latin1"));
    line.tls.end();
  },
  "and closed": (line, body) => {
    send(line, httpAnswer(body, { headers: "Connection: close\r\n" }));
    line.tls.end();
  },
};

/** The answer is lost or unreliable. */
export const UNRELIABLE: Readonly<Record<string, Delivery>> = {
  "connection reset": (line) => reset(line),
  "connection closed": (line) => void line.tls.end(),
  "cut and reset": (line, body, random) => {
    cut(line, body, random);
    later(PAUSE_MS, () => reset(line));
  },
  "cut and closed": (line, body, random) => {
    cut(line, body, random);
    line.tls.end();
  },
  silence: () => undefined,
  "kept for the next": (line, body) => void line.kept.push(httpAnswer(body)),
  "sent twice": (line, body) => send(line, Buffer.concat([httpAnswer(body), httpAnswer(body)])),
  "sent again later": (line, body) => {
    send(line, httpAnswer(body));
    later(PAUSE_MS, () => send(line, httpAnswer(body)));
  },
  "page of a proxy": (line) => send(line, httpAnswer("<html><body>3 Bad gateway</body></html>", { headers: HTML })),
  compressed: (line, body) => send(line, httpAnswer(gzipSync(body), { headers: "Content-Encoding: gzip\r\n" })),
  "in UTF-16": (line, body) => send(line, httpAnswer(Buffer.from(body, "utf16le"))),
  "two lengths": (line, body) => send(line, httpAnswer(body, { headers: `Content-Length: ${body.length - 1}\r\n` })),
  "cut by its length": (line, body) => send(line, httpAnswer(body.slice(0, -2))),
  "no length": (line, body) => {
    line.tls.write(`HTTP/1.1 200 OK\r\n\r\n${body}`);
    line.tls.end();
  },
  "after 100 Continue": (line, body) => {
    send(line, Buffer.from("HTTP/1.1 100 Continue\r\n\r\n"));
    send(line, httpAnswer(body));
  },
  "with 500": (line, body) => send(line, httpAnswer(body, { status: "500 Oops" })),
  "with 503": (line) => send(line, httpAnswer('{"retcode":"3 Invalid parameters"}', { status: "503 Busy" })),
  "without an end": (line) => {
    line.tls.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    void flood(line, Buffer.from(`10000\r\n${" ".repeat(0x10000)}\r\n`));
  },
  "of 1 GB": (line) => {
    line.tls.write('HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n{"retcode":"');
    void flood(line, Buffer.alloc(1 << 16, "0"));
  },
  "a long head": (line, body) => send(line, httpAnswer(body, { headers: `X-Padding: ${"x".repeat(100_000)}\r\n` })),
  "nested deep": (line) =>
    send(line, httpAnswer(`{"retcode":"0 Done","answer":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)),
  "one continue after the other": (line) => void continueForEver(line),
  "broken TLS": (line, body) => {
    cutInHalf(line, body);
    line.raw.write("no record of TLS");
  },
  redirected: (line) => send(line, httpAnswer("", { status: "302 Found", headers: "Location: /api/test/access\r\n" })),
  forbidden: (line) => send(line, FORBIDDEN),
  "session taken over": (line) => {
    line.isSignedIn = false;
    send(line, FORBIDDEN);
  },
};

const HTML = "Content-Type: text/html\r\n";

export function later(ms: number, act: () => void): void {
  setTimeout(act, ms).unref();
}

function cut(line: Connection, body: string, random: Random): void {
  const whole = httpAnswer(body);
  send(line, whole.subarray(0, random.below(whole.length)));
}

function cutInHalf(line: Connection, body: string): void {
  const whole = httpAnswer(body);
  send(line, whole.subarray(0, whole.length / 2));
}

/** Writes for a second, or until the client closes the connection. */
async function flood(line: Connection, piece: Buffer): Promise<void> {
  for (const until = Date.now() + FLOOD_MS; line.tls.writable && Date.now() < until;) {
    line.tls.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function continueForEver(line: Connection): Promise<void> {
  for (const until = Date.now() + FLOOD_MS; line.tls.writable && Date.now() < until;) {
    line.tls.write("HTTP/1.1 100 Continue\r\n\r\n");
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
  }
}

async function inPieces(line: Connection, bytes: Buffer, size: number): Promise<void> {
  for (let at = 0, length = size; at < bytes.length; at += length) {
    // Each piece is a TLS record; more than some hundred add no coverage.
    length = at < MAX_SINGLE_BYTES ? size : bytes.length;
    send(line, bytes.subarray(at, at + length));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function chunked(body: string, random: Random): Buffer {
  const bytes = Buffer.from(body);
  const parts: Buffer[] = [Buffer.from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")];
  for (let at = 0; at < bytes.length;) {
    const part = bytes.subarray(at, at + 1 + random.below(30));
    parts.push(Buffer.from(`${part.length.toString(16)};ext="a"\r\n`), part, Buffer.from("\r\n"));
    at += part.length;
  }
  return Buffer.concat([...parts, Buffer.from("0\r\nTrailer: yes\r\n\r\n")]);
}
